"""GEM, a gym for LLM agents."""
