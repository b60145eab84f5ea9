"""`run_task` and its companions as MCP tools."""
