"""Files and pages of sessions as MCP resources."""
