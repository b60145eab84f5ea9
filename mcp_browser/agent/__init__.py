"""The built-in agent: it plans, acts, remembers, and reports truthfully whether the task is done."""
