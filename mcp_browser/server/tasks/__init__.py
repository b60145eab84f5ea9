"""MCP's tasks extension."""
