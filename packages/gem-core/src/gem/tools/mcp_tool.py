"""Old path of `MCPTool`, which gem_tools.mcp has."""

from gem.tools import forwarding

try:
    from gem_tools.mcp import MCPTool as MCPTool
except ModuleNotFoundError as error:
    forwarding.refuse(error, "gem.tools.mcp_tool", "gem_tools.mcp", "gem-tools")
