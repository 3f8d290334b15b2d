"""Math environments and the math grader for GEM, the gym for LLM agents."""
