"""Agents, rollouts, token-exact trajectories, evaluation and trainer adapters for GEM, the gym for LLM agents."""
