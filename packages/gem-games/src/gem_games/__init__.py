"""Text games for GEM, the gym for LLM agents."""
