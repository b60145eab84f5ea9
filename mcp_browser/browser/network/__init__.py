"""Requests of a session: recorded, matched, mocked."""
