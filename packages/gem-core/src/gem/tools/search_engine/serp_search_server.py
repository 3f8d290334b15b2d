"""Old path of gem-search's web search server; `python -m` starts it."""

from gem.tools import forwarding

try:
    from gem_search.server import serp_main as main
except ModuleNotFoundError as error:
    forwarding.refuse(error, "gem.tools.search_engine.serp_search_server", "gem_search.server", "gem-search")
if __name__ == "__main__":
    main()
