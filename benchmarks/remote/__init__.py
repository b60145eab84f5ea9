"""The server over HTTP with many clients at once, and for long."""
