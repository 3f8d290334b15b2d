"""The rules of word search."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem_games.base import PARTIAL, box
from gem_games.word_search import WordSearchEnv
from gem_games.words import words_of_length

VARIANTS = ["game:WordSearch-v0", "game:WordSearch-v0-easy", "game:WordSearch-v0-hard", "game:WordSearch-v0-random"]
WAYS = [(0, 1), (1, 0), (1, 1), (-1, 1), (0, -1), (-1, 0), (-1, -1), (1, -1)]


def square_of(observation: str) -> list[list[str]]:
    """Return the last square of an observation, checking its numbers and that it is aligned."""
    lines = observation.split("\n")
    top = max(number for number, line in enumerate(lines) if re.fullmatch(r"    +0( +\d+)+", line))
    size = len(lines[top].split())
    assert lines[top].split() == [str(number) for number in range(size)]
    rows = [line.split() for line in lines[top + 1 : top + 1 + size]]
    assert [row[0] for row in rows] == [str(number) for number in range(size)]
    assert len({len(line) for line in lines[top : top + 1 + size]}) == 1
    assert all(len(row) == size + 1 for row in rows)
    return [row[1:] for row in rows]


def listed_in(observation: str) -> list[str]:
    return re.findall(r"Words to find: (.*)\.", observation)[-1].split(", ")


def places_of(word: str, square: list[list[str]]) -> list[tuple[int, int, int, int]]:
    """Return all places where a word stands, by plain search."""
    size, found = len(square), []
    for row in range(size):
        for column in range(size):
            for down, across in WAYS:
                last_row, last_column = row + down * (len(word) - 1), column + across * (len(word) - 1)
                if 0 <= last_row < size and 0 <= last_column < size:
                    read = "".join(square[row + down * i][column + across * i] for i in range(len(word)))
                    if read.upper() == word:
                        found.append((row, column, last_row, last_column))
    return found


def naming(place: tuple[int, int, int, int]) -> str:
    return box(" ".join(map(str, place)))


@pytest.mark.parametrize("env_id", VARIANTS)
def test_every_word_listed_stands_in_the_square(env_id: str) -> None:
    env = gem.make(env_id)
    ways = set()
    for seed in range(60):
        observation, _ = env.reset(seed=seed)
        square, words = square_of(observation), listed_in(observation)
        assert len(words) == len(set(words)) == env.num_words <= env.max_turns
        for word in words:
            assert word.lower() in words_of_length(len(word), rare=env.hardcore)
            assert not any(word in other or word[::-1] in other for other in words if other != word)
            places = places_of(word, square)
            assert places
            if not env.hardcore:  # as the rules say
                assert any(row == last_row or column == last_column for row, column, last_row, last_column in places)
            ways.update((row < last, column < end, row > last, column > end) for row, column, last, end in places[:1])
    if env_id.endswith("hard"):
        assert len(ways) == 8
    if env_id.endswith(("v0", "easy")):
        assert {(False, True, False, False), (True, False, False, False)} <= ways


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 20), st.booleans(), st.integers(0, 2**32))
def test_any_number_of_words_is_laid_out_and_found(count: int, hardcore: bool, seed: int) -> None:
    env = WordSearchEnv(count, hardcore, max_turns=count)
    observation, _ = env.reset(seed=seed)
    square, words = square_of(observation), listed_in(observation)
    assert len(words) == count
    total = 0.0
    for word in words:  # found without looking behind the board
        place = places_of(word, square)[-1]
        observation, reward, terminated, truncated, info = env.step(naming(place))
        assert f"You found {word}." in observation
        total += reward
    assert (terminated, truncated, info) == (True, False, {"success": True})
    assert total == pytest.approx(1.0, abs=1e-9)


def with_square(env: Any, rows: list[str], *words: str) -> None:
    """Put a square of one's own before the player."""
    env.reset(seed=1)
    letters = "".join(rows)
    env._size, env._letters, env._shown = len(rows), letters, bytearray(letters.encode())
    env._lines = dict.fromkeys(words, (0, 0, 0, 0))
    env._left, env._found, env.num_words = sorted(words), [], len(words)


SQUARE = ["CATXX", "AXXXX", "TXTXX", "XXXAX", "XXXXC"]


@pytest.mark.parametrize("place", [(0, 0, 0, 2), (0, 0, 2, 0), (4, 4, 2, 2), (2, 2, 4, 4), (0, 2, 0, 0), (2, 0, 0, 0)])
def test_a_word_counts_wherever_it_stands_named_from_either_end(place: tuple[int, int, int, int]) -> None:
    env = WordSearchEnv()
    with_square(env, SQUARE, "CAT", "DOG")
    observation, reward, *_ = env.step(naming(place))
    assert observation.startswith("You found CAT.")
    assert reward == PARTIAL / 2
    row, column, last_row, last_column = place
    shown = square_of(observation)
    lower = {(r, c) for r, line in enumerate(shown) for c, letter in enumerate(line) if letter.islower()}
    assert len(lower) == 3
    assert {(row, column), (last_row, last_column)} <= lower
    assert [[letter.upper() for letter in line] for line in shown] == [list(line) for line in SQUARE]
    for again in [(0, 0, 0, 2), (0, 0, 2, 0), place]:  # another place of a found word is no second find
        observation, reward, *_ = env.step(naming(again))
        assert observation.startswith("You have found CAT already.")
        assert reward == 0.0


@pytest.mark.parametrize(
    "place, message",
    [
        ((0, 0, 0, 5), "There is no such cell: rows and columns go from 0 to 4."),
        ((0, -1, 0, 2), "There is no such cell"),
        ((0, 0, 10**30, 0), "There is no such cell"),
        ((0, 0, 1, 2), "That is not a straight line"),
        ((0, 0, 0, 0), "C stands there, which is not one of the words to find."),
        ((0, 0, 0, 3), "CATX stands there, which is not"),
        ((0, 4, 0, 1), "XXTA stands there, which is not"),
        ((3, 3, 2, 2), "AT stands there, which is not"),
    ],
)
def test_what_is_no_word_to_find_pays_nothing(place: tuple[int, int, int, int], message: str) -> None:
    env = WordSearchEnv()
    with_square(env, SQUARE, "CAT", "DOG")
    observation, reward, terminated, truncated, _ = env.step(naming(place))
    assert observation.startswith(message)
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_found_words_move_to_a_list_of_their_own() -> None:
    env = WordSearchEnv()
    observation, _ = env.reset(seed=3)
    assert "Found" not in observation
    first, *rest = listed_in(observation)
    observation, *_ = env.step(env.oracle_action() or "")
    assert listed_in(observation) == rest
    assert f"Found, in lower case above: {first}." in observation


def test_words_that_were_not_found_are_shown_at_the_end() -> None:
    env = WordSearchEnv(2, max_turns=2)
    env.reset(seed=3)
    env.step(env.oracle_action() or "")
    action = env.oracle_action() or ""
    row, column, last_row, last_column = (int(number) for number in re.findall(r"\d+", action))
    observation, _, terminated, truncated, info = env.step("\\boxed{0 0 0 0}")
    assert (terminated, truncated, info) == (False, True, {"success": False, "truncated_by": "max_turns"})
    assert f": row {row}, column {column} to row {last_row}, column {last_column}" in observation
    assert observation.count(" to row ") == 1


@pytest.mark.parametrize("env_id", VARIANTS)
def test_random_lines_are_straight_and_on_the_board(env_id: str) -> None:
    env = gem.make(env_id)
    for seed in range(20):
        env.reset(seed=seed)
        ended = False
        while not ended:
            observation, _, terminated, truncated, _ = env.step(env.sample_random_action())
            assert re.match(r"[A-Z]{4,8} stands there|You found|You have found", observation)
            ended = terminated or truncated


def test_repeating_what_paid_earns_nothing_more() -> None:
    env = WordSearchEnv()
    env.reset(seed=4)
    action = env.oracle_action() or ""
    total, ended = 0.0, False
    while not ended:
        _, reward, terminated, truncated, _ = env.step(action)
        total += reward
        ended = terminated or truncated
    assert total == PARTIAL / 5


def test_nothing_tells_where_the_words_are_before_the_end() -> None:
    env = WordSearchEnv()
    observation, info = env.reset(seed=1)
    for place in (line for line in env._lines.values() if line != (0, 1, 0, 4)):  # but for the example
        assert " ".join(map(str, place)) not in observation + repr(info) + repr(env)


@pytest.mark.parametrize("parameters", [{"num_words": 0}, {"num_words": 21}, {"max_turns": 0}])
def test_impossible_parameters_are_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="is a whole number"):
        WordSearchEnv(**parameters)
