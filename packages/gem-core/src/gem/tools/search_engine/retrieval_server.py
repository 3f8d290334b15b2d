"""Old path of gem-search's retrieval server; `python -m` starts it."""

from gem.tools import forwarding

try:
    from gem_search.server import retrieval_main as main
except ModuleNotFoundError as error:
    forwarding.refuse(error, "gem.tools.search_engine.retrieval_server", "gem_search.server", "gem-search")
if __name__ == "__main__":
    main()
