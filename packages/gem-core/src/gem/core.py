"""What an environment is, and what a wrapper round one is.

`Env` is the base of every environment: the author writes `reset` and `step`; seeds, generators, copies and the async
twins come from here. `Wrapper` changes one behaviour of the environment inside it and passes everything else through.
`docs/contract.md` has the numbered clauses that both keep (E and W).
"""

from __future__ import annotations

import dataclasses
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from gem.concurrency import lone_twins, run_in_turn
from gem.copying import class_name, constructor_arguments, copy_attributes, leave_out, put_back, replace
from gem.errors import ResetNeeded, StateError
from gem.seeding import check_seed, derive, draw_seed

if TYPE_CHECKING:
    from gem.specs import EnvSpec

__all__ = ["Env", "EnvWrapper", "StepResult", "Wrapper"]

StepResult = tuple[Any, float, bool, bool, dict[str, Any]]
"""`(observation, reward, terminated, truncated, info)`."""

SelfEnv = TypeVar("SelfEnv", bound="Env")

_TWINS = (("reset", "areset"), ("step", "astep"))
_NOT_STATE = frozenset({"_arguments", "env", "spec"})  # how the object was made, not where its episode stands


class Env(ABC):
    r"""A text environment with Gym's interface.

    An author overrides two methods and nothing else is needed::

        class Echo(gem.Env):
            answer_format = "boxed"

            def reset(self, seed=None, **options):
                _, info = super().reset(seed=seed, **options)
                self.word = self.rng.choice(["tea", "coffee"])
                return f"Say {self.word} in \\boxed{{}}.", info

            def step(self, action):
                solved = gem.parsing.boxed(action) == self.word
                return "", float(solved), True, False, {"success": solved}

    `gem.make` puts the checks of contract E8 and E9 round it; an environment constructed by hand is unchecked.

    Attributes:
        spec: The spec that `gem.make` made it from, or None.
        answer_format: How the answer is written: "boxed", "answer", "fenced", or None for plain text.
        action_type: The type of a valid action.
        shared: Names of attributes that all copies share (a data set, a tokenizer): neither copied nor in the state.
        rng: The source of all randomness of the task; seeded by `reset`.
    """

    spec: EnvSpec | None = None
    answer_format: str | None = None
    action_type: type = str
    shared: tuple[str, ...] = ()
    rng: random.Random

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]
    _action_rng: random.Random | None
    _episode_seed: int | None
    _next_seed: int | None
    _pending_seed: int | None

    def __new__(cls: type[SelfEnv], *args: Any, **kwargs: Any) -> SelfEnv:
        """Record the constructor's arguments, which `spawn` uses, and make the generators."""
        self = super().__new__(cls)
        self._arguments = (args, kwargs)
        self._begin()
        return self

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Give a class that overrides a sync method alone an async twin over that very method."""
        super().__init_subclass__(**kwargs)
        for _, twin in lone_twins(cls, _TWINS):
            setattr(cls, twin, vars(Env)[twin])

    def _begin(self) -> None:
        self.rng = random.Random()
        self._action_rng = None
        self._episode_seed = None
        self._next_seed = None
        self._pending_seed = None

    def reset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode; overriders begin with `_, info = super().reset(seed=seed, **options)`.

        Args:
            seed: 0 or larger; fixes the whole episode and what later unseeded resets give. None takes the seed given
                to `gem.make` at the first reset, and afterwards continues the stream.
            options: What this environment's own `reset` documents; the base has none.

        Returns:
            `(observation, info)`; the base gives `""` and an info with `seed` (so that `reset(seed=info["seed"])`
            reproduces the episode) and `env_id`.

        Raises:
            TypeError: `seed` is not an integer, or an option is unknown.
            ValueError: `seed` is negative.
        """
        if options:
            names = ", ".join(sorted(options))
            raise TypeError(f"{self!r}.reset() takes no option {names}: leave it out, or see what its docstring lists.")
        if seed is not None:
            seed = check_seed(seed)
        elif self._pending_seed is not None:
            seed = self._pending_seed
        elif self._next_seed is not None:
            seed = self._next_seed
        else:
            seed = draw_seed(self.rng)
        self._pending_seed = None
        self._episode_seed = seed
        self._action_rng = None
        self.rng.seed(seed)
        # Drawn before the episode runs, so that what later resets give does not hang on the actions of this one.
        self._next_seed = draw_seed(self.rng)
        return "", {"seed": seed, "env_id": self.spec.id if self.spec else type(self).__name__}

    @abstractmethod
    def step(self, action: Any) -> StepResult:
        """Apply one action.

        Args:
            action: The agent's whole text (for environments with text actions, any `str` is valid).

        Returns:
            `(observation, reward, terminated, truncated, info)`; the reward is a Python float; on the last step
            `info["success"]` says whether the task was solved.

        Raises:
            Fault: The infrastructure failed; the episode is over and says nothing about the agent.
            ResetNeeded: The episode has not begun or is over (checked round what `gem.make` makes).
            TypeError: The action is not of `action_type` (checked likewise).
        """

    async def areset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Do what `reset` does without blocking the event loop: in a thread, unless a class knows better."""
        return await run_in_turn(self, self.reset, seed=seed, **options)

    async def astep(self, action: Any) -> StepResult:
        """Do what `step` does without blocking the event loop: in a thread, unless a class knows better."""
        return await run_in_turn(self, self.step, action)

    def sample_random_action(self) -> Any:
        """Return a well-formed action drawn from `action_rng`; the default answers with a random digit."""
        digit = self.action_rng.randint(0, 9)
        templates = {"boxed": f"\\boxed{{{digit}}}", "answer": f"<answer>{digit}</answer>"}
        return templates.get(
            self.answer_format or "", f"```python\nprint({digit})\n```" if self.answer_format else str(digit)
        )

    def oracle_action(self) -> Any | None:
        """Return the next action of a solver that may see the hidden state, or None where none is known."""
        return None

    @property
    def action_rng(self) -> random.Random:
        """The generator of sampled and oracle actions: derived from the episode's seed, apart from `rng`."""
        if self._action_rng is None:
            seed = self._episode_seed
            self._action_rng = random.Random() if seed is None else random.Random(derive(seed, "action"))
        return self._action_rng

    @property
    def unwrapped(self) -> Env:
        """The environment inside all wrappers."""
        return self

    def set_attr(self, name: str, value: Any) -> None:
        """Set an existing attribute on whichever layer owns it.

        Raises:
            AttributeError: Nobody has that attribute; assignment would silently do nothing.
        """
        if not hasattr(self, name):
            raise AttributeError(f"{self!r} has no attribute {name!r} to set, nor has any wrapper round it.")
        setattr(self, name, value)

    def spawn(self: SelfEnv, same_state: bool = False, **changes: Any) -> SelfEnv:
        """Make another environment like this one.

        Args:
            same_state: True gives an independent copy at the same point of the same episode: given the same actions,
                both go on alike. False gives a fresh one from the recorded constructor arguments.
            changes: Constructor arguments to replace, with `same_state=False` only; they go to the unwrapped
                environment.

        Returns:
            The new environment; what the class lists in `shared` is the same object in both.

        Raises:
            StateError: An attribute cannot be copied.
            TypeError: `changes` go with `same_state=True`, or name an argument that the constructor lacks.
        """
        if same_state:
            self._refuse_changes(changes)
            clone = type(self).__new__(type(self))
            clone._arguments = self._arguments
            clone.spec = self.spec
            vars(clone).update({name: getattr(self, name) for name in self.shared if name in vars(self)})
            vars(clone).update(self._copies(vars(self), replace([self], [clone])))
            return clone
        args, kwargs = constructor_arguments(type(self), self._arguments, changes, shared=self.shared)
        clone = type(self)(*args, **kwargs)
        if self.spec is not None:
            clone.spec = dataclasses.replace(self.spec, kwargs={**self.spec.kwargs, **changes})
        return clone

    def get_state(self) -> dict[str, Any]:
        """Return where the episode stands as an opaque picklable dict, generators included.

        Raises:
            StateError: An attribute cannot be copied.
        """
        return {"class": class_name(self), "attributes": self._copies(vars(self), leave_out([self]))}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to the point that `get_state` of an environment of this class returned; the state can be used again.

        Raises:
            StateError: The state comes from another class.
        """
        self._check_state(state)
        self._replace_attributes(self._copies(state["attributes"], put_back([self])))

    def close(self) -> None:  # noqa: B027 - most environments hold nothing
        """Release what the environment holds; a second call does nothing."""

    def __enter__(self: SelfEnv) -> SelfEnv:
        """Return the environment itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the environment."""
        self.close()

    def __repr__(self) -> str:
        """Name class and id; never the hidden state (contract E10)."""
        return f"<{type(self).__name__} {self.spec.id}>" if self.spec else f"<{type(self).__name__}>"

    def _refuse_changes(self, changes: Mapping[str, Any]) -> None:
        if changes:
            raise TypeError(
                f"spawn(same_state=True) copies {self!r} as it stands and cannot change {', '.join(sorted(changes))}; "
                "use same_state=False for a fresh environment with other arguments."
            )

    def _check_state(self, state: Mapping[str, Any]) -> None:
        if state.get("class") != class_name(self):
            raise StateError(
                f"{self!r} cannot take the state of {state.get('class') or 'nothing'}: it needs that of a "
                f"{class_name(self)}. A state goes into an environment made and wrapped like the one it is from."
            )

    def _replace_attributes(self, attributes: dict[str, Any]) -> None:
        for name in set(vars(self)) - set(attributes) - _NOT_STATE - set(self.shared):
            delattr(self, name)
        vars(self).update(attributes)

    def _copies(self, attributes: Mapping[str, Any], memo: dict[Any, Any]) -> dict[str, Any]:
        return copy_attributes(self, attributes, without=_NOT_STATE, memo=memo)


class Wrapper(Env):
    """An environment round another one that changes one behaviour of it.

    A subclass overrides any of the four pure hooks, which the sync and async methods both call: `before_reset`,
    `after_reset`, `before_step`, `after_step`. One that overrides `step` or `reset` itself gets its async twin in a
    thread.

    A public name that the wrapper lacks is read from the inner environment, now; assignment stays on the wrapper
    (contract W1).

    Attributes:
        env: The environment inside.
    """

    def __init__(self, env: Env) -> None:
        """Wrap `env`.

        Raises:
            TypeError: `env` is not an environment.
        """
        if not isinstance(env, Env):
            raise TypeError(f"{type(self).__name__} wraps an environment; got {env!r} of type {type(env).__name__}.")
        self.env = env

    def _begin(self) -> None:
        self._ended = (
            False  # the generators are the inner environment's; a wrapper only knows whether it cut the episode
        )

    def before_reset(self, seed: int | None, options: dict[str, Any]) -> tuple[int | None, dict[str, Any]]:
        """Return the seed and options that the inner `reset` gets."""
        return seed, options

    def after_reset(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return what `reset` returns, given what the inner one returned."""
        return observation, info

    def before_step(self, action: Any) -> Any:
        """Return the action that the inner `step` gets."""
        return action

    def after_step(self, action: Any, result: StepResult) -> StepResult:
        """Return what `step` returns, given the action as it came in and what the inner one returned."""
        return result

    def reset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode of the inner environment."""
        seed, options = self.before_reset(seed, options)
        observation, info = self.env.reset(seed=seed, **options)
        self._ended = False
        return self.after_reset(observation, info)

    def step(self, action: Any) -> StepResult:
        """Step the inner environment."""
        if self._ended:
            self._refuse_step()
        return self.after_step(action, self.env.step(self.before_step(action)))

    async def areset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode of the inner environment through its async twin."""
        seed, options = self.before_reset(seed, options)
        observation, info = await self.env.areset(seed=seed, **options)
        self._ended = False
        return self.after_reset(observation, info)

    async def astep(self, action: Any) -> StepResult:
        """Step the inner environment through its async twin."""
        if self._ended:
            self._refuse_step()
        return self.after_step(action, await self.env.astep(self.before_step(action)))

    def truncate(self, result: StepResult, by: str) -> StepResult:
        """Cut the episode: `result` as truncated by `by`, and no further step until `reset` (contract E3).

        Args:
            result: What the step would have returned; its info is not changed.
            by: One of `max_turns`, `step_limit`, `token_limit`, `time_limit`, `tool_limit`, `fault`.

        Returns:
            The cut result; `success=False` is added unless there is one or a fault cut it.
        """
        observation, reward, terminated, _, info = result
        self._ended = True
        info = {**info, "truncated_by": by}
        if by != "fault":
            info.setdefault("success", False)
        return observation, reward, terminated, True, info

    def _refuse_step(self) -> NoReturn:
        raise ResetNeeded(f"{self!r}: step() came after the end of the episode; call reset() to begin another.")

    @property
    def spec(self) -> EnvSpec | None:  # type: ignore[override]
        """The inner environment's spec."""
        return self.env.spec

    @property
    def answer_format(self) -> str | None:  # type: ignore[override]
        """The inner environment's answer format."""
        return self.env.answer_format

    @property
    def action_type(self) -> type:  # type: ignore[override]
        """The type of a valid action of the inner environment."""
        return self.env.action_type

    @property
    def rng(self) -> random.Random:  # type: ignore[override]
        """The inner environment's generator."""
        return self.env.rng

    @property
    def action_rng(self) -> random.Random:
        """The inner environment's generator of sampled actions."""
        return self.env.action_rng

    @property
    def unwrapped(self) -> Env:
        """The environment inside all wrappers."""
        return self.env.unwrapped

    def sample_random_action(self) -> Any:
        """Return a random action of the inner environment."""
        return self.env.sample_random_action()

    def oracle_action(self) -> Any | None:
        """Return the inner solver's next action."""
        return self.env.oracle_action()

    def set_attr(self, name: str, value: Any) -> None:
        """Set an attribute on the outermost layer that owns it."""
        own_classes = type(self).__mro__[: type(self).__mro__.index(Wrapper)]
        if name in vars(self) or any(name in vars(cls) for cls in own_classes):
            setattr(self, name, value)
        else:
            self.env.set_attr(name, value)

    def spawn(self: SelfEnv, same_state: bool = False, **changes: Any) -> SelfEnv:
        """Make another environment like this one, wrapped alike; see `Env.spawn`."""
        if same_state:
            self._refuse_changes(changes)
            inner = self.env.spawn(same_state=True)  # type: ignore[attr-defined]
            clone = type(self).__new__(type(self))
            vars(clone).update({name: getattr(self, name) for name in self.shared if name in vars(self)})
            memo = replace(_layers(self), [clone, *_layers(inner)])
            vars(clone).update(self._copies(vars(self), memo), env=inner, _arguments=_with_env(self, inner))
            return clone
        arguments = _with_env(self, self.env.spawn(same_state=False, **changes))  # type: ignore[attr-defined]
        return type(self)(*arguments[0], **arguments[1])

    def get_state(self) -> dict[str, Any]:
        """Return where the episode stands, the inner environment's state included."""
        attributes = self._copies(vars(self), leave_out(_layers(self)))
        return {"class": class_name(self), "attributes": attributes, "env": self.env.get_state()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to the point that `get_state` returned, the inner environment too."""
        self._check_state(state)
        self._replace_attributes(self._copies(state["attributes"], put_back(_layers(self))))
        self.env.set_state(state["env"])

    def close(self) -> None:
        """Close the inner environment."""
        self.env.close()

    def __getattr__(self, name: str) -> Any:
        """Read a public name that the wrapper lacks from the inner environment."""
        if name.startswith("_") or name == "env":  # copy and pickle look for these before `env` exists
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.env, name)

    def __repr__(self) -> str:
        """Show the layers, outermost first."""
        return f"<{type(self).__name__}{self.env!r}>"


EnvWrapper = Wrapper


def _layers(env: Env) -> list[Env]:
    """List the layers from the outermost to the unwrapped environment."""
    layers = [env]
    while isinstance(env, Wrapper):
        env = env.env
        layers.append(env)
    return layers


def _with_env(wrapper: Env, inner: Env) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a wrapper's recorded arguments with another inner environment."""
    args, kwargs = wrapper._arguments
    if "env" in kwargs:
        return args, {**kwargs, "env": inner}
    return (inner, *args[1:]), kwargs
