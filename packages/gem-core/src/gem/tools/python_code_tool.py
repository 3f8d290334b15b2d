"""Old path of `PythonCodeTool`, which gem_tools.python_code has."""

from gem.tools import forwarding

try:
    from gem_tools.python_code import PythonCodeTool as PythonCodeTool
except ModuleNotFoundError as error:
    forwarding.refuse(error, "gem.tools.python_code_tool", "gem_tools.python_code", "gem-tools")
