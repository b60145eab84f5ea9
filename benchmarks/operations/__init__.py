"""Single operations on widgets of many libraries, by the tools of this server and of playwright-mcp."""
