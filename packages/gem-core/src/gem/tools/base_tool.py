"""Old path of `Tool`, which `gem.tools.base` has."""

from gem.tools.base import Tool as BaseTool

__all__ = ["BaseTool"]
