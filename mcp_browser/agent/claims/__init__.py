"""Evidence of each action, and the facts against a run's claim."""
