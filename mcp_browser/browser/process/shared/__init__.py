"""One browser for several servers with one profile: who starts it, who keeps it, and whose each tab is."""
