"""MCP prompts: tasks that a client offers its person to begin with."""
