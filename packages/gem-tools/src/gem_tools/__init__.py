"""Python and MCP tools, sandboxes and code environments for GEM, the gym for LLM agents."""
