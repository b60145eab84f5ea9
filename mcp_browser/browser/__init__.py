"""The browser: its process, its sessions, its tabs."""
