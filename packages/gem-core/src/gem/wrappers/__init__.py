"""Wrappers: what changes one behaviour of an environment; `gem.wrapping` finds them by name."""
