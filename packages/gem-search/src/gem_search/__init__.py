"""The search tool, retrieval servers and question answering environments for GEM, the gym for LLM agents."""
