"""`run_task` and the tools around it as MCP tools."""
