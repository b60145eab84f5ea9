"""What the model reads, and how its answers are read."""
