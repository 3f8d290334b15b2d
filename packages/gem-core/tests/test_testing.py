"""The checker is checked: what is right passes, and whatever is wrong is caught under the clause that it breaks."""

from __future__ import annotations

import itertools
import logging
import random
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gem
from gem.core import Env, StepResult, Wrapper
from gem.errors import ContractError, MissingDependency, ResetNeeded, UnknownId
from gem.parsing import boxed
from gem.testing import check_env
from gem.wrappers.checks import EnvChecks


class Guess(Env):
    """Find a number of three digits; what the checker should have nothing against."""

    answer_format = "boxed"
    format_error_reward = -0.1

    def __init__(self, bonus: float = 0.0, max_turns: int = 10) -> None:
        self.bonus = bonus
        self.max_turns = max_turns

    def reset(self, seed: int | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
        _, info = super().reset(seed=seed, **options)
        self.turn, self.low, self.high = 0, 100, 999
        self.hidden = self.rng.randint(100, 999)
        return self.instruction() + self.tail(), {**info, "suffix": self.tail()}

    def instruction(self) -> str:
        return "Guess my number from 100 to 999, like \\boxed{500}; I say higher or lower."

    def tail(self) -> str:
        return f"\nTurns left: {self.max_turns - self.turn}"

    def read(self, action: str) -> int | None:
        text = boxed(action)
        return int(text) if text is not None and re.fullmatch("[0-9]{3}", text) else None

    def step(self, action: Any) -> StepResult:
        self.turn += 1
        guess = self.read(action)
        if guess is None:
            return "Not a number.", self.format_error_reward, True, False, {"success": False}
        if guess == self.hidden:
            return "Right!", 1.0 + self.bonus, True, False, {"success": True}
        if guess < self.hidden:
            self.low = max(self.low, guess + 1)
        else:
            self.high = min(self.high, guess - 1)
        if self.turn >= self.max_turns:
            return "Over.", 0.0, False, True, {"success": False, "truncated_by": "max_turns"}
        word = "Higher." if guess < self.hidden else "Lower."
        return word + self.tail(), 0.0, False, False, {"suffix": self.tail()}

    def sample_random_action(self) -> Any:
        return f"\\boxed{{{self.action_rng.randint(100, 999)}}}"

    def oracle_action(self) -> str | None:
        return f"\\boxed{{{(self.low + self.high) // 2}}}"


def register(cls: Callable[..., Env], **kwargs: Any) -> str:
    gem.register("check:It-v0", cls, reward_range=(-0.1, 1.0), replace=True, **kwargs)
    return "check:It-v0"


def test_a_right_env_passes_every_clause() -> None:
    report = check_env(register(Guess), seeds=20)
    assert set(report.checked) == {f"E{i}" for i in range(1, 14)}
    assert set(report.skipped) == {"E6", "E14"}
    assert "E6 in part not checked: other processes" in str(report)
    assert str(report).startswith("check:It-v0: ")
    assert repr(report) == str(report)  # what an interactive session shows


@pytest.mark.parametrize("target", [Guess, Guess(), Guess(max_turns=12), lambda: EnvChecks(Guess())])
def test_classes_objects_and_factories_are_checked_too(target: Any) -> None:
    report = check_env(target, seeds=[3, 4], largest_text=10_000)
    assert report.skipped["E5"].startswith("no registered reward_range")
    assert "E11" in report.checked


def test_the_env_given_and_the_process_are_left_alone() -> None:
    env = Guess()
    before = env.reset(seed=1), env.get_state(), random.getstate(), repr(np.random.get_state())
    check_env(env, seeds=1, largest_text=1_000)
    assert (before[0], env.get_state(), random.getstate(), repr(np.random.get_state()))[2:] == before[2:]
    assert env.get_state()["attributes"].keys() == before[1]["attributes"].keys()
    assert env.hidden == before[1]["attributes"]["hidden"]


@pytest.mark.parametrize("wrappers", ["concat", "episode_tracking", [lambda env: Wrapper(env)]])
def test_a_wrapped_env_passes(wrappers: Any) -> None:
    check_env(register(Guess), seeds=2, largest_text=10_000, wrappers=wrappers)


# --- everything that can be wrong -------------------------------------------------------------------------------------


class FourTuple(Guess):
    def step(self, action: Any) -> Any:
        return super().step(action)[:4]


class NumpyFlag(Guess):
    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, np.bool_(terminated), truncated, info


class ResetReturnsText(Guess):
    def reset(self, seed: int | None = None, **options: Any) -> Any:
        return super().reset(seed=seed)[0]


class ResetRaises(Guess):
    def reset(self, seed: int | None = None, **options: Any) -> Any:
        if seed == 2:
            raise KeyError("level")
        return super().reset(seed=seed)


class CloseOnce(Guess):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise OSError("already closed")
        self.closed = True


class OtherFormat(Guess):
    answer_format = "box"


class AsyncDiffers(Guess):
    async def astep(self, action: Any) -> StepResult:
        return ("", *self.step(action)[1:])


class OracleRaises(Guess):
    def oracle_action(self) -> str | None:
        raise NotImplementedError


class SuffixElsewhere(Guess):
    def step(self, action: Any) -> StepResult:
        observation, *rest = super().step(action)
        return (f"{observation} ", *rest)  # type: ignore[return-value]


class CutWithoutReason(Guess):
    def step(self, action: Any) -> StepResult:
        *rest, info = super().step(action)
        info.pop("truncated_by", None)
        return (*rest, info)  # type: ignore[return-value]


class ReasonWithoutCut(Guess):
    def step(self, action: Any) -> StepResult:
        *rest, info = super().step(action)
        return (*rest, {**info, "truncated_by": "max_turns"})  # type: ignore[return-value]


class BothFlags(Guess):
    def step(self, action: Any) -> StepResult:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated or truncated, truncated, info


class SolvedByCutting(Guess):
    def step(self, action: Any) -> StepResult:
        *rest, truncated, info = super().step(action)
        return (*rest, truncated, {**info, "success": True} if truncated else info)  # type: ignore[return-value]


class NoSuccess(Guess):
    def step(self, action: Any) -> StepResult:
        *rest, info = super().step(action)
        info.pop("success", None)
        return (*rest, info)  # type: ignore[return-value]


class WrongAlias(Guess):
    def step(self, action: Any) -> StepResult:
        *rest, info = super().step(action)
        return (*rest, {**info, "correct": True} if "success" in info else info)  # type: ignore[return-value]


class TupleInInfo(Guess):
    def step(self, action: Any) -> StepResult:
        *rest, info = super().step(action)
        return (*rest, {**info, "range": {"of": [(self.low, self.high)]}})  # type: ignore[return-value]


class NumpyInInfo(Guess):
    def reset(self, seed: int | None = None, **options: Any) -> Any:
        observation, info = super().reset(seed=seed)
        return observation, {**info, "turn": np.int64(0)}


class WrongSeedInInfo(Guess):
    def reset(self, seed: int | None = None, **options: Any) -> Any:
        observation, info = super().reset(seed=seed)
        return observation, {**info, "seed": info["seed"] // 2}


class IntReward(Guess):
    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, int(reward), *rest


class NumpyReward(Guess):
    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, np.float64(reward), *rest


class NanReward(Guess):
    def step(self, action: Any) -> Any:
        observation, _, *rest = super().step(action)
        return observation, float("nan"), *rest


class PaysForTurns(Guess):
    def step(self, action: Any) -> Any:
        observation, reward, terminated, *rest = super().step(action)
        return observation, reward if terminated else reward - 0.02, terminated, *rest


class FullPayUnsolved(Guess):
    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, 1.0 if truncated else reward, terminated, truncated, info


class GlobalRandom(Guess):
    def reset(self, seed: int | None = None, **options: Any) -> Any:
        start = super().reset(seed=seed)
        self.hidden = random.randint(100, 999)
        return start


class SeedsTheProcess(Guess):
    def reset(self, seed: int | None = None, **options: Any) -> Any:
        start = super().reset(seed=seed)
        np.random.seed(start[1]["seed"] % 2**32)  # noqa: TID251
        return start


class IgnoresSeed(Guess):
    def reset(self, seed: int | None = None, **options: Any) -> Any:
        start = super().reset(seed=seed)
        self.hidden = random.Random().randint(100, 999)
        return start


class CountsAllEpisodes(Guess):
    counter = itertools.count()

    def instruction(self) -> str:
        return f"{super().instruction()} Game {next(self.counter)}."


class SamplesFromTaskRng(Guess):
    def sample_random_action(self) -> Any:
        return f"\\boxed{{{self.rng.randint(100, 999)}}}"


class OracleAdvancesRng(Guess):
    def oracle_action(self) -> str | None:
        self.rng.random()
        return super().oracle_action()


class LaterHangsOnPast(Guess):
    def step(self, action: Any) -> StepResult:
        self._next_seed = (self._next_seed or 0) + 1
        return super().step(action)


class ForgetsMakesSeed(Guess):
    def reset(self, seed: int | None = None, **options: Any) -> Any:
        self._pending_seed = None
        return super().reset(seed=seed)


class NoBox(Guess):
    def sample_random_action(self) -> Any:
        return str(self.action_rng.randint(100, 999))


class OutOfGrammar(Guess):
    def sample_random_action(self) -> Any:
        return f"\\boxed{{{self.action_rng.randint(1, 999)}.}}"


class SampleRaises(Guess):
    def sample_random_action(self) -> Any:
        raise NotImplementedError


class SamplesNumbers(Guess):
    def sample_random_action(self) -> Any:
        return 500


class BadExample(Guess):
    def instruction(self) -> str:
        return "Guess my number from 100 to 999, like \\boxed{[500]}."


class LongNumberRaises(Guess):
    def read(self, action: str) -> int | None:
        text = boxed(action)
        if text is None or not text.isdigit():
            return None
        return int(text) if 100 <= int(text) <= 999 else None  # int("²") and int("9" * 5000) raise


class SurrogateRaises(Guess):
    def read(self, action: str) -> int | None:
        action.encode()
        return super().read(action)


class Backtracks(Guess):
    def read(self, action: str) -> int | None:
        re.search(r"<answer>(.*?)</answer>", action, re.DOTALL)
        return super().read(action)


class TextsStay(Guess):
    longest = 0

    def read(self, action: str) -> int | None:
        type(self).longest = max(self.longest, len(action) if len(action) > 10_000 else 0)
        return super().read(action)

    def instruction(self) -> str:
        return f"{super().instruction()} The longest guess so far had {self.longest} characters."


class TakesAnything(Wrapper):
    def step(self, action: Any) -> StepResult:
        return self.env.step(str(action))


class ResetsByItself(Wrapper):
    def step(self, action: Any) -> StepResult:
        try:
            return self.env.step(action)
        except ResetNeeded:
            self.env.reset()
            return self.env.step(action)


class OnlyBeginningIsChecked(Wrapper):
    over = False

    def step(self, action: Any) -> StepResult:
        result = self.env.step(action) if not self.over else ("", 0.0, True, False, {"success": False})
        self.over = result[2] or result[3]
        return result

    def reset(self, seed: int | None = None, **options: Any) -> Any:
        self.over = False
        return self.env.reset(seed=seed, **options)


class AnswerInInfo(Guess):
    def reset(self, seed: int | None = None, **options: Any) -> Any:
        observation, info = super().reset(seed=seed)
        return observation, {**info, "target": [str(self.hidden)]}


class AnswerInRepr(Guess):
    def __repr__(self) -> str:
        return f"<Guess {vars(self).get('hidden')}>"


class AnswerInObservation(Guess):
    def instruction(self) -> str:
        return f"{super().instruction()} (DEBUG: {self.hidden})"


class Uncopyable(Guess):
    def reset(self, seed: int | None = None, **options: Any) -> Any:
        self.lines = (line for line in "abc")
        return super().reset(seed=seed)


class Unpicklable(Guess):
    def reset(self, seed: int | None = None, **options: Any) -> Any:
        start = super().reset(seed=seed)
        self.further = lambda guess: guess < self.hidden
        return start


class CopiesShareGuesses(Guess):
    shared = ("guesses",)

    def reset(self, seed: int | None = None, **options: Any) -> Any:
        self.guesses: list[str] = []
        return super().reset(seed=seed)

    def tail(self) -> str:
        return f"{super().tail()} Guesses: {len(self.guesses)}"

    def step(self, action: Any) -> StepResult:
        self.guesses.append(action)
        return super().step(action)


class StateLosesTurn(Guess):
    def set_state(self, state: Mapping[str, Any]) -> None:
        super().set_state(state)
        self.turn = 0


class SpawnForgetsArguments(Guess):
    def spawn(self, same_state: bool = False, **changes: Any) -> Any:
        return super().spawn(same_state=True) if same_state else type(self)()


class SpawnIsTheSame(Guess):
    def spawn(self, same_state: bool = False, **changes: Any) -> Any:
        return super().spawn(same_state=True) if same_state else self


class NamesNoFormat(Guess):
    def instruction(self) -> str:
        return "Guess my number from 100 to 999."


class Unsolvable(Guess):
    def __init__(self) -> None:
        super().__init__(max_turns=3)


class OtherFullScore(Guess):
    def __init__(self) -> None:
        super().__init__(bonus=-0.5)


class AboveRange(Guess):
    def __init__(self) -> None:
        super().__init__(bonus=0.5)


class Prints(Guess):
    def close(self) -> None:
        print("closed")


class PrintsErrors(Guess):
    def reset(self, seed: int | None = None, **options: Any) -> Any:
        sys.stderr.write("resetting\n")
        return super().reset(seed=seed)


class ConfiguresLogging(Guess):
    def __init__(self) -> None:
        super().__init__()
        logging.getLogger().setLevel(logging.getLogger().level + 1)


WRONG = {
    "E1": [
        *(FourTuple, NumpyFlag, ResetReturnsText, ResetRaises, CloseOnce, OtherFormat, AsyncDiffers, OracleRaises),
    ],
    "E2": [SuffixElsewhere],
    "E3": [CutWithoutReason, ReasonWithoutCut, BothFlags, SolvedByCutting],
    "E4": [NoSuccess, WrongAlias, TupleInInfo, NumpyInInfo, WrongSeedInInfo],
    "E5": [IntReward, NumpyReward, NanReward, PaysForTurns, FullPayUnsolved, OtherFullScore, AboveRange],
    "E6": [
        *(GlobalRandom, SeedsTheProcess, IgnoresSeed, CountsAllEpisodes, SamplesFromTaskRng, OracleAdvancesRng),
        *(LaterHangsOnPast, ForgetsMakesSeed),
    ],
    "E7": [NoBox, OutOfGrammar, SampleRaises, SamplesNumbers, BadExample],
    "E8": [LongNumberRaises, SurrogateRaises, Backtracks, TextsStay, lambda: TakesAnything(EnvChecks(Guess()))],
    "E9": [lambda: ResetsByItself(EnvChecks(Guess())), lambda: OnlyBeginningIsChecked(EnvChecks(Guess()))],
    "E10": [AnswerInInfo, AnswerInRepr, AnswerInObservation],
    "E11": [
        *(Uncopyable, Unpicklable, CopiesShareGuesses, StateLosesTurn, SpawnIsTheSame),
        lambda: SpawnForgetsArguments(max_turns=11),
    ],
    "E12": [NamesNoFormat, Unsolvable],
    "E13": [Prints, PrintsErrors, ConfiguresLogging],
}


@pytest.mark.parametrize(
    "clause, wrong", [(clause, wrong) for clause, all_of_it in WRONG.items() for wrong in all_of_it]
)
def test_what_is_wrong_is_caught_under_its_clause(
    clause: str, wrong: Callable[..., Env], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "level", logging.getLogger().level)
    monkeypatch.setattr(CountsAllEpisodes, "counter", itertools.count())
    with pytest.raises(ContractError) as caught:
        check_env(register(wrong), seeds=5, largest_text=200_000, max_steps=50)
    assert caught.value.clause == clause, str(caught.value)
    assert str(caught.value).startswith(f"[{clause}] check:It-v0: ")


def test_the_offending_input_is_shown() -> None:
    with pytest.raises(ContractError, match=r"(?s)step\('\\\\boxed\{9{150}.*9\}'\) raised ValueError"):
        check_env(register(LongNumberRaises))
    with pytest.raises(ContractError, match=r"of '<answer>' \* n, \d+ characters take .* s and \d+ characters .* s"):
        check_env(register(Backtracks), largest_text=200_000)
    with pytest.raises(ContractError, match=r"info\['range'\]\['of'\]\[0\] is \(\d+, \d+\) of type tuple"):
        check_env(register(TupleInInfo))


def test_an_order_that_hangs_on_the_hash_seed_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = """
import gem

class Words(gem.Env):
    answer_format = "boxed"
    def reset(self, seed=None, **options):
        _, info = super().reset(seed=seed, **options)
        self.word = self.rng.choice(list({"tea", "coffee", "water", "milk", "juice"}))
        return f"Say {self.word} in \\\\\\\\boxed{{}}.", info
    def step(self, action):
        return "", float(self.word in action), True, False, {"success": self.word in action}

gem.register("hashed:Words-v0", Words)
"""
    (tmp_path / "hashed_words.py").write_text(source, encoding="utf-8")
    (tmp_path / "sitecustomize.py").write_text("import hashed_words", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    __import__("hashed_words")
    check_env("hashed:Words-v0", largest_text=1_000)
    with pytest.raises(ContractError, match=r"\[E6\].* same in every process; under PYTHONHASHSEED=. they differ"):
        check_env("hashed:Words-v0", seeds=5, largest_text=1_000, processes=True)


def test_other_processes_agree_on_a_game_of_a_package() -> None:
    pytest.importorskip("gem_games")
    report = check_env("game:GuessTheNumber-v0", seeds=2, largest_text=1_000, processes=True)
    assert "E6" not in report.skipped


def test_what_another_process_cannot_make_is_skipped() -> None:
    assert (
        "another process cannot make it" in check_env(register(Guess), largest_text=1_000, processes=True).skipped["E6"]
    )
    assert "only from an id" in check_env(Guess, largest_text=1_000, processes=True).skipped["E6"]


def test_what_cannot_be_made_is_no_breach() -> None:
    class NeedsTorch(Guess):
        def reset(self, seed: int | None = None, **options: Any) -> Any:
            raise MissingDependency("install torch")

    with pytest.raises(MissingDependency):
        check_env(NeedsTorch)
    with pytest.raises(UnknownId):
        check_env("check:Nothing-v0")


@pytest.mark.parametrize("target", [7, None, list])
def test_what_is_no_env_is_refused(target: Any) -> None:
    with pytest.raises(TypeError, match="check_env takes an id, an environment or what makes one"):
        check_env(target)


@pytest.mark.parametrize("seeds", [0, -1, []])
def test_a_check_of_no_seed_is_refused(seeds: Any) -> None:
    with pytest.raises(ValueError, match=r"needs a seed at least; got seeds="):
        check_env(Guess, seeds=seeds)


def test_arguments_go_with_an_id_only() -> None:
    check_env(register(Guess), seeds=1, largest_text=1_000, max_turns=11)
    with pytest.raises(TypeError, match=r"passes max_turns on to gem\.make, and only with an id"):
        check_env(Guess, max_turns=11)
