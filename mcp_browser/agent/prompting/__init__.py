"""Prompts to the model, and how its answers are read."""
