"""Secrets of a task: kept, filled in, hidden."""
