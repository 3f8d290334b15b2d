"""Tools: what an agent can call inside an episode, and the wrapper that answers the calls."""
