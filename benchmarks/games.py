"""How fast the games are played: sampling an action and stepping, with and without the resets between.

Both packages play in turn, round by round. A game is judged without its resets, so that fast boards hide no slow step;
with them it is shown where the old package's resets are about as cheap as its steps (the others stand in boards.py).
There the new one also pays for two generators of random numbers of its own, where the old one shares the process's.
"""

from __future__ import annotations

import itertools
import random
import statistics
import string
import time
from collections.abc import Callable
from typing import Any

from timing import Figure, answer, at_least
from word_lists import make

SECONDS = 0.07  # of stepping, three times per game and round
# Parameters that both packages get: where they differ, and more turns where the old boards take long to make.
GAMES: dict[str, dict[str, Any]] = {
    "GuessTheNumber": {},
    "Mastermind": {},
    "Minesweeper": {},
    "Wordle": {"max_turns": 15},
    "FifteenPuzzle": {},
    "Hangman": {},
    "Sudoku": {"max_turns": 600},
    "TowerofHanoi": {},
    "Game2048": {"max_turns": 350},
    "Sokoban": {"dim_room": (7, 7), "num_boxes": 3, "max_turns": 4000},  # the standard one
    "Crosswords": {},
    "WordSearch": {"max_turns": 200},
}
SLOW_BOARDS = ("Sudoku", "Sokoban", "WordSearch")


# What is played where the old package has no random actions (Sudoku, TowerofHanoi) or none that it can read itself (it
# leaves out the box or puts brackets into it: FifteenPuzzle, Crosswords, WordSearch). Both packages get the same
# ones, prepared beforehand, so that stepping alone is timed; some are legal, others not, and none ends a game.
PREPARED: dict[str, Callable[[random.Random], str]] = {
    "Sudoku": lambda rng: " ".join(rng.choices("123456789", k=3)),
    "TowerofHanoi": lambda rng: " ".join(rng.sample("ABC", 2)),
    "FifteenPuzzle": lambda rng: rng.choice(("up", "down", "left", "right")),
    "Crosswords": lambda rng: " ".join([*rng.choices("01234567", k=2), rng.choice(string.ascii_uppercase)]),
    "WordSearch": lambda rng: f"{(row := rng.randrange(9))} 0 {row} {rng.randrange(3, 9)}",
}


def measure() -> dict[str, Any]:
    """Return per game a pair, microseconds of a step and the same with its share of the resets, in a list."""
    measured: dict[str, Any] = {}
    for game, parameters in GAMES.items():
        try:
            env = make(f"game:{game}-v0-hard", **parameters)
        except ImportError:  # the old Crosswords need pandas, which the old package does not declare
            continue
        _play(env, game, SECONDS / 10)
        # The least of several, since other programs only add.
        measured[game] = [tuple(map(min, zip(*(_play(env, game, SECONDS) for _ in range(3)))))]  # noqa: B905
    return measured


def _play(env: Any, game: str, seconds: float) -> tuple[float, float]:
    """Play whole episodes for as long."""
    choose = env.sample_random_action
    if game in PREPARED:
        rng = random.Random(0)
        choose = itertools.cycle(["\\boxed{" + PREPARED[game](rng) + "}" for _ in range(997)]).__next__
    step, clock = env.step, time.process_time
    steps, stepping, resetting = 0, 0.0, 0.0
    while stepping < seconds:
        begin = clock()
        env.reset()
        start = clock()
        over = False
        while not over:
            _, _, terminated, truncated, _ = step(choose())
            over = terminated or truncated
            steps += 1
        stepping += clock() - start
        resetting += start - begin
    return stepping / steps * 1e6, (stepping + resetting) / steps * 1e6


def figures(new: dict[str, Any], old: dict[str, Any]) -> list[Figure]:
    """Judge."""
    lines = []
    for game in GAMES:
        for index, what in enumerate(("step", "with resets")):
            if index and game in SLOW_BOARDS:
                continue
            mine = [pair[index] for pair in new[game]]
            theirs = [pair[index] for pair in old.get(game, ())]
            ratio = statistics.median(b / a for a, b in zip(mine, theirs)) if theirs else None  # noqa: B905
            beside = statistics.median(theirs) if theirs else None
            if index:
                lines.append(Figure(f"  {what}", statistics.median(mine), "us CPU", beside, ratio))
            else:
                lines.append(at_least(f"{game}, {what}", statistics.median(mine), "us CPU", ratio, 0.5, beside))
    return lines


if __name__ == "__main__":
    answer(measure())
