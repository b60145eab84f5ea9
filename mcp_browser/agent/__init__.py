"""The built-in agent: it plans, acts, remembers, and says truly whether the task is done."""
