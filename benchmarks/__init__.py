"""Measured claims: the same work on this server and on others."""
