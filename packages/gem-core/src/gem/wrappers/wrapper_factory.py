"""Old path of the wrappers by name; `gem.wrapping` has them."""

from gem.wrapping import WRAPPER_FACTORY, get_wrapper_fns

__all__ = ["WRAPPER_FACTORY", "get_wrapper_fns"]
