"""Secrets: hidden in all their forms; redacted by name and form; painted over on pictures."""
