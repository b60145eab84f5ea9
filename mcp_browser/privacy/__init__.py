"""Secrets: hidden in every form of theirs; redacted by name and form in network, console and traces."""
