"""The secrets of a task: kept, filled in, hidden."""
