"""One question per episode, from a list, a file or the hub (contract I, "Dataset envs")."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from gem.concurrency import lone_twins, run_in_thread
from gem.core import Env, StepResult
from gem.dataset_sources import Rows, check_source, load_rows
from gem.errors import DatasetError, Fault, ResetNeeded
from gem.parsing import extract
from gem.seeding import check_seed, derive

__all__ = ["DatasetEnv"]

_INSTRUCTIONS = {
    "boxed": "Please reason step by step, and put your final answer within \\boxed{}.",
    "answer": "Give your final answer inside <answer> and </answer>, for example <answer>Paris</answer>.",
    "fenced": "Write your solution in a fenced code block, for example:\n```python\nprint('hello')\n```",
    None: "",
}
_RENDERED = {"boxed": "\\boxed{%s}", "answer": "<answer>%s</answer>", "fenced": "```python\n%s\n```", None: "%s"}


class DatasetEnv(Env):
    r"""An environment that asks one question of a data set per episode and ends with the answer to it.

    The data set is loaded at the first reset and shared by all environments of the process, so 64 of them cost what one
    costs.

    Which row an episode gets:

    * `reset(idx=i)`: row `i`.
    * `reset(seed=s)`: a row drawn from `s`; with `shuffle=False` the first.
    * `reset()`: the next row. Each comes once per epoch, in an order fixed by the last seed given (`gem.make(...,
      seed=s)` gives one), or by `data_seed`; each epoch has its own order. With `shuffle=False` it is the order of the
      rows.

    `info["task_id"]` is the row's number, so `reset(seed=info["seed"], idx=info["task_id"])` gives the episode again.

    A subclass overrides `grade` (and `agrade` where grading waits on something), and where its rows need it `observe`
    and `gold_answers`.

    Args:
        dataset: A list of dicts, a path (`.jsonl`, `.json`, `.csv`, `.parquet`, or a folder with `<split>.jsonl`), a
            `datasets.Dataset` or `DatasetDict`, or a name on the Hugging Face hub, `owner/name`. Names on the hub are
            looked up under `GEM_DATA` first; they and Parquet need `gem-core[datasets]`.
        split: Which split, where there are several.
        question_key: The key of the question in a row.
        answer_key: The key of the answer: a text or a number, or a list of them any of which counts.
        instruction: What follows the question; None names the answer format, "" says nothing.
        answer_format: How the answer is written: "boxed", "answer", "fenced", or None for the whole text outside the
            reasoning.
        data_seed: Fixes the order of the rows, whatever the environment's seed; a seed then says where in that order to
            start.
        shuffle: False takes the rows in their own order, as an evaluation does.
        max_samples: Use only the first so many rows.

    Raises:
        DatasetError: `dataset` cannot be one.
        TypeError: `dataset` or `data_seed` is of the wrong type.
        ValueError: `answer_format`, `max_samples` or `data_seed` cannot be one.

    Example:
        >>> env = DatasetEnv([{"problem": "2 + 2 = ?", "answer": "4"}], instruction="Answer in \\boxed{}.")
        >>> env.reset(idx=0)[0]
        '2 + 2 = ?\n\nAnswer in \\boxed{}.'
        >>> env.step("\\boxed{4}")
        ('', 1.0, True, False, {'success': True, 'correct': True})
    """

    shared = ("dataset", "_rows")

    def __init__(
        self,
        dataset: Any,
        *,
        split: str = "train",
        question_key: str = "problem",
        answer_key: str = "answer",
        instruction: str | None = None,
        answer_format: str | None = "boxed",
        data_seed: int | None = None,
        shuffle: bool = True,
        max_samples: int | None = None,
    ) -> None:
        """Check the arguments; nothing is loaded yet."""
        if answer_format not in _RENDERED:
            raise ValueError(f"answer_format is one of 'boxed', 'answer', 'fenced' and None; got {answer_format!r}.")
        if max_samples is not None and (type(max_samples) is not int or max_samples < 1):
            raise ValueError(f"max_samples is a whole number above 0, or None for all rows; got {max_samples!r}.")
        check_source(dataset, split)
        self.dataset = dataset
        self.split = split
        self.question_key = question_key
        self.answer_key = answer_key
        self.instruction = _INSTRUCTIONS[answer_format] if instruction is None else instruction
        self.answer_format = answer_format
        self.data_seed = None if data_seed is None else check_seed(data_seed)
        self.shuffle = shuffle
        self.max_samples = max_samples
        self._rows: Rows | None = None
        self._index: int | None = None  # of the present row
        self._order_seed: int | None = None  # what fixes the order,
        self._start = 0  # where in it we started,
        self._served = 0  # and how many rows it has given since

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Give a class that overrides `grade` alone an `agrade` over that very method."""
        super().__init_subclass__(**kwargs)
        for _, twin in lone_twins(cls, [("grade", "agrade")]):
            setattr(cls, twin, vars(DatasetEnv)[twin])

    @property
    def rows(self) -> Rows:
        """The rows, loaded if need be; `num_tasks` says how many of them are used."""
        if self._rows is None:
            rows = load_rows(self.dataset, self.split)
            rows.require((self.question_key, self.answer_key), min(len(rows), self.max_samples or len(rows)))
            self._rows = rows
        return self._rows

    @property
    def num_tasks(self) -> int:
        """How many rows there are to ask; `reset(idx=...)` takes 0 to `num_tasks - 1`. Loads the data set."""
        return min(len(self.rows), self.max_samples or len(self.rows))

    def reset(self, seed: int | None = None, *, idx: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Ask a question.

        Args:
            seed: See `Env.reset`; where there is no `idx`, the row is drawn from it.
            idx: The number of the row to ask; it takes nothing from the epoch.
            options: None are known.

        Returns:
            The question with its instruction, and an info with the row's number as `task_id`.

        Raises:
            DatasetError: The data set cannot be had, or has no such row, or the row lacks a key.
            TypeError: `idx` is not an integer.
        """
        size = self.num_tasks
        if idx is not None:
            idx = _check_index(idx, size, self.rows.name)
        seeded = seed is not None or self._pending_seed is not None
        _, info = super().reset(seed=seed, **options)
        if seeded or self._order_seed is None:
            self._start_order(info["seed"], size, seeded)
        self._index = self._next_index(size) if idx is None else idx
        return self.observe(self.rows[self._index]), {**info, "task_id": self._index}

    def _start_order(self, seed: int, size: int, seeded: bool) -> None:
        self._served = self._start = 0
        self._order_seed = seed
        if self.data_seed is not None:
            self._order_seed = self.data_seed
            if seeded and self.shuffle:
                self._start = derive(seed, "row") % size

    def _next_index(self, size: int) -> int:
        epoch, position = divmod(self._served, size)
        self._served += 1
        position = (self._start + position) % size
        return _shuffled(position, size, derive(self._order_seed or 0, "epoch", epoch)) if self.shuffle else position

    def observe(self, row: Mapping[str, Any]) -> Any:
        """Return what the agent sees of a row: the question, a blank line and the instruction."""
        question = str(row[self.question_key])
        return f"{question}\n\n{self.instruction}" if self.instruction else question

    def gold_answers(self, row: Mapping[str, Any]) -> list[str]:
        """Return the right answers of a row as text, any of which counts.

        Raises:
            Fault: There is none to compare with (kind `grader`): such a row says nothing about the agent.
        """
        gold = row[self.answer_key]
        texts = [str(answer).strip() for answer in (gold if isinstance(gold, (list, tuple)) else [gold])]
        answers = [text for text in texts if text]
        if not answers:
            raise Fault("grader", f"Row {self._index} of {self.rows.name} has an empty answer: nothing can equal it.")
        return answers

    def grade(self, action: str, row: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
        """Grade an answer; the default compares the extracted text, blanks round it apart, with the gold answers.

        Args:
            action: The agent's whole text.
            row: The row that was asked.

        Returns:
            The reward and what to add to `info`. Without `success` in it, a reward of 1 or more counts as solved.

        Raises:
            Fault: The grader failed (kind `grader`).
        """
        answer = extract(action, self.answer_format)
        return float(answer is not None and answer.strip() in self.gold_answers(row)), {}

    async def agrade(self, action: str, row: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
        """Do what `grade` does without blocking the event loop: in a thread, unless a class knows better."""
        if type(self).grade is DatasetEnv.grade:  # comparing two texts is cheaper than handing them over
            return self.grade(action, row)
        return await run_in_thread(self.grade, action, row)

    def step(self, action: Any) -> StepResult:
        """Grade the answer and end the episode."""
        return self._end(*self.grade(action, self._row()))

    async def astep(self, action: Any) -> StepResult:
        """Grade the answer through `agrade` and end the episode."""
        return self._end(*await self.agrade(action, self._row()))

    def _row(self) -> Mapping[str, Any]:
        if self._index is None:
            raise ResetNeeded(f"{self!r}: step() came before reset(); call reset() to begin an episode.")
        return self.rows[self._index]

    @staticmethod
    def _end(reward: float, graded: dict[str, Any]) -> StepResult:
        success = bool(graded.get("success", reward >= 1.0))
        return "", float(reward), True, False, {**graded, "success": success, "correct": success}

    def oracle_action(self) -> str | None:
        """Return the first gold answer in the answer format; None where the format cannot hold it."""
        gold = self.gold_answers(self._row())[0]
        action = _RENDERED[self.answer_format] % gold
        return action if (extract(action, self.answer_format) or "").strip() == gold else None


def _check_index(idx: Any, size: int, name: str) -> int:
    if isinstance(idx, bool) or not hasattr(idx, "__index__"):
        raise TypeError(f"idx is the number of a row; got {idx!r} of type {type(idx).__name__}.")
    index = operator.index(idx)
    if not 0 <= index < size:
        raise DatasetError(f"{name} has rows 0 to {size - 1}; there is no row {index}.")
    return index


def _shuffled(position: int, size: int, seed: int) -> int:
    """Return what stands at `position` of a random order of `range(size)`, in constant time and memory.

    A Feistel network permutes the next power of four, and what falls outside walks on until it is inside (cycle
    walking: Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). The order itself would be a list as long
    as the data set in every state, and would have to be drawn anew for each seed.
    """
    half = max(1, ((size - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    while True:
        left, right = position >> half, position & mask
        for turn in range(4):
            left, right = right, left ^ (derive(seed, turn, right) & mask)
        position = left << half | right
        if position < size:
            return position
