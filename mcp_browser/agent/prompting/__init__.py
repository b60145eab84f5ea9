"""What the model is told, and how its answers are read."""
