"""From snapshots, results and errors to what a model reads: pure functions."""
