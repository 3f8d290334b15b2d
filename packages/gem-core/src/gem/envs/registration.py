"""Old path of what registers and makes environments; `gem.factory` has it."""

from gem.factory import list_envs, make, make_vec, print_envs, register, spec
from gem.specs import EnvSpec

__all__ = ["EnvSpec", "list_envs", "make", "make_vec", "print_envs", "register", "spec"]
