"""Old path of `SearchTool`, which gem_search.tool has."""

from gem.tools import forwarding

try:
    from gem_search.tool import SearchTool as SearchTool
except ModuleNotFoundError as error:
    forwarding.refuse(error, "gem.tools.search_tool", "gem_search.tool", "gem-search")
