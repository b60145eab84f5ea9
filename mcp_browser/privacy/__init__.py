"""Secrets: hidden in all their forms; redacted by name and form; kept off traces and pictures."""
