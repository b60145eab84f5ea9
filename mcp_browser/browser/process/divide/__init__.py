"""One browser for several clients: one DevTools connection, of which each client sees its own tabs only."""
