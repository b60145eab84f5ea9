"""The Model Context Protocol: the only rooms that know it."""
