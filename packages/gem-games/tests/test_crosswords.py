"""The rules of crosswords, their layout and their bank of clues."""

from __future__ import annotations

import random
import re
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem_games.base import PARTIAL, box
from gem_games.crossword_layout import Crossword, bank_of, lay_out
from gem_games.crosswords import CrosswordsEnv

VARIANTS = ["game:Crosswords-v0", "game:Crosswords-v0-easy", "game:Crosswords-v0-hard", "game:Crosswords-v0-random"]
CLUE = re.compile(r"^(\d+)\. (across|down) from row (\d+), column (\d+), (\d+) letters: (.+)\.$", re.MULTILINE)


def rows_of(crossword: Crossword) -> list[str]:
    text = crossword.cells.decode()
    return [text[start : start + crossword.width] for start in range(0, len(text), crossword.width)]


def board_of(observation: str) -> list[str]:
    """Return the last board of an observation, checking its numbers and that it is aligned."""
    lines = observation.split("\n")
    top = max(number for number, line in enumerate(lines) if re.fullmatch(r"    +0( +\d+)*", line))
    width = len(lines[top].split())
    assert lines[top].split() == [str(number) for number in range(width)]
    rows = []
    for number, line in enumerate(lines[top + 1 :]):
        if not re.fullmatch(rf" *{number}  +\S( +\S)*", line) or len(line) != len(lines[top]):
            break
        rows.append("".join(line.split()[1:]))
        assert len(rows[-1]) == width
    return rows


def test_the_bank_is_well_formed() -> None:
    lines = files("gem_games").joinpath("crossword_clues.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 300
    words, clues = [], []
    for line in lines:
        level, word, clue = line.split("\t")
        assert level in ("plain", "hard")
        assert re.fullmatch("[a-z]{3,9}", word), line
        assert clue == clue.strip()
        assert 8 <= len(clue) <= 90, line
        assert clue.isascii()
        assert clue[-1] not in ".!?", line  # the game ends the sentence
        assert word not in clue.lower(), line
        words.append(word)
        clues.append(clue)
    assert len(set(words)) == len(words)
    assert len(set(clues)) == len(clues)
    for level in ("plain", "hard"):
        bank = bank_of(level)
        assert len(bank.words) >= 150
        assert {len(word) for word in bank.words} == set(range(3, 10))


def check_layout(crossword: Crossword, count: int) -> None:
    """Check that every run of letters is a word with a clue, and that the words hang together."""
    assert len({entry.word for entry in crossword.entries}) == len(crossword.entries) == count
    rows = rows_of(crossword)
    columns = ["".join(row[number] for row in rows) for number in range(crossword.width)]
    runs = {
        (number, match.start(), False, match.group()) for number, row in enumerate(rows) for match in RUN.finditer(row)
    } | {
        (match.start(), number, True, match.group())
        for number, column in enumerate(columns)
        for match in RUN.finditer(column)
    }
    assert runs == {tuple(entry) for entry in crossword.entries}
    assert list(crossword.entries) == sorted(crossword.entries)
    cells = [
        {(row + i, column) if down else (row, column + i) for i in range(len(word))}
        for row, column, down, word in crossword.entries
    ]
    together, apart = cells[0], cells[1:]
    while apart:
        near = [group for group in apart if group & together]
        assert near
        together = together.union(*near)
        apart = [group for group in apart if group not in near]
    assert len(together) == sum(letter != "." for row in rows for letter in row)
    assert any(row[0] != "." for row in rows)
    assert any(row[-1] != "." for row in rows)
    assert rows[0].strip(".")
    assert rows[-1].strip(".")


RUN = re.compile("[A-Z]{2,}")


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 10), st.sampled_from(["plain", "hard"]), st.integers(0, 2**32))
def test_words_cross_truly(count: int, level: str, seed: int) -> None:
    check_layout(lay_out(random.Random(seed), bank_of(level), count), count)


def test_all_words_come_up_and_none_often() -> None:
    for level in ("plain", "hard"):
        bank, seen = bank_of(level), dict[str, int]()
        for seed in range(3000):
            for entry in lay_out(random.Random(seed), bank, 3).entries:
                seen[entry.word] = seen.get(entry.word, 0) + 1
        assert set(seen) == set(bank.words)
        assert max(seen.values()) < 12 * 9000 / len(bank.words)


@pytest.mark.parametrize("env_id", VARIANTS)
def test_clues_place_every_word_and_turns_are_enough(env_id: str) -> None:
    env = gem.make(env_id)
    for seed in range(60):
        observation, _ = env.reset(seed=seed)
        board, clues = board_of(observation), CLUE.findall(observation)
        assert set("".join(board)) <= {"_", "."}
        assert [int(clue[0]) for clue in clues] == list(range(1, env.num_words + 1))
        cells = set()
        for _, way, row, column, length, text in clues:
            assert text in bank_of("hard" if env.hardcore else "plain").clues.values()
            for i in range(int(length)):
                cells.add((int(row) + i, int(column)) if way == "down" else (int(row), int(column) + i))
        assert cells == {(r, c) for r, line in enumerate(board) for c, cell in enumerate(line) if cell == "_"}
        assert len(cells) <= env.max_turns


def test_a_player_who_knows_the_answers_wins_from_the_observation_alone() -> None:
    env = gem.make("game:Crosswords-v0-hard")
    answers = {clue: word for word, clue in bank_of("hard").clues.items()}
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        letters = {}
        for _, way, row, column, _, text in CLUE.findall(observation):
            for i, letter in enumerate(answers[text]):
                letters[(int(row) + i, int(column)) if way == "down" else (int(row), int(column) + i)] = letter
        total = 0.0
        for (row, column), letter in letters.items():
            _, reward, terminated, _, info = env.step(f"I think it is {box(f'{row} {column} {letter.lower()}')}.")
            assert reward > 0
            total += reward
        assert terminated
        assert info == {"success": True}
        assert total == pytest.approx(1.0, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 5), st.booleans())
def test_random_play_only_ever_fills_in_right_letters(seed: int, count: int, hardcore: bool) -> None:
    env = CrosswordsEnv(count, hardcore, max_turns=60)
    board = board_of(env.reset(seed=seed)[0])
    total, ended = 0.0, False
    while not ended:
        observation, reward, terminated, truncated, info = env.step(env.sample_random_action())
        assert re.match(r"[A-Z] is (right|not the letter) in row", observation)
        total += reward
        ended = terminated or truncated
        if not ended:
            after = board_of(observation)
            changed = [pair for pair in zip("".join(board), "".join(after), strict=True) if pair[0] != pair[1]]
            assert len(changed) == (reward > 0)
            assert all(old == "_" and new == observation[0] for old, new in changed)
            board = after
    assert info["success"] == terminated
    assert total == pytest.approx(1.0) if terminated else 0 <= total < PARTIAL


def dealt() -> tuple[CrosswordsEnv, int, int, str]:
    env = CrosswordsEnv()
    env.reset(seed=7)
    row, column, letter = re.findall(r"\w+", (env.oracle_action() or "").removeprefix("\\boxed"))
    return env, int(row), int(column), letter


def test_a_wrong_letter_leaves_the_cell_open() -> None:
    env, row, column, letter = dealt()
    wrong = "A" if letter != "A" else "B"
    observation, reward, terminated, truncated, _ = env.step(box(f"{row} {column} {wrong}"))
    assert observation.startswith(f"{wrong} is not the letter in row {row}, column {column}: it stays open.")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert board_of(observation)[row][column] == "_"


def test_a_right_letter_is_entered_pays_once_and_stays() -> None:
    env, row, column, letter = dealt()
    observation, reward, *_ = env.step(box(f"({row}, {column}, {letter.lower()})"))
    assert observation.startswith(f"{letter} is right in row {row}, column {column}.")
    assert reward == pytest.approx(PARTIAL / env._letters)
    assert board_of(observation)[row][column] == letter
    for other in (letter, "Q"):
        observation, reward, *_ = env.step(box(f"{row} {column} {other}"))
        assert observation.startswith(f"You cannot change row {row}, column {column}: its {letter} is right.")
        assert reward == 0.0


def test_a_complete_word_is_named() -> None:
    env = CrosswordsEnv()
    env.reset(seed=7)
    words = {entry.word for entry in env._entries}
    text, ended = "", False
    while not ended:
        observation, _, ended, _, _ = env.step(env.oracle_action() or "")
        text += observation
    named = re.findall(r"That completes ([A-Z]+)\.", text)
    assert set(named) == words
    assert len(named) == len(words)


@pytest.mark.parametrize(
    "text, message",
    [
        ("-1 0 a", "There is no such cell: rows go from 0 to "),
        ("0 99 a", "There is no such cell"),
        ("9" * 5000 + " 0 a", "There is no such cell"),
    ],
)
def test_a_cell_off_the_board_is_invalid(text: str, message: str) -> None:
    env, *_ = dealt()
    observation, reward, terminated, truncated, _ = env.step(box(text))
    assert observation.startswith(message)
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_no_letter_goes_where_a_dot_is() -> None:
    env, *_ = dealt()
    row, column = divmod(env._shown.index(b"."), env._width)
    observation, reward, terminated, _, _ = env.step(box(f"{row} {column} a"))
    assert observation.startswith(f"No letter goes into row {row}, column {column}.")
    assert (reward, terminated) == (0.0, False)


@pytest.mark.parametrize("text", ["0 0", "0 0 ab", "0 0 1", "0 0 ſ", "0 0 ß", "a 0 0", "0 a", "0 0 0 a", "", "é"])
def test_what_is_no_row_column_and_letter_cannot_be_read(text: str) -> None:
    env, *_ = dealt()
    _, reward, terminated, _, info = env.step(box(text))
    assert (reward, terminated, info) == (-0.1, True, {"success": False})


def test_repeating_what_paid_earns_nothing_more() -> None:
    env, row, column, letter = dealt()
    total, ended = 0.0, False
    while not ended:
        _, reward, terminated, truncated, _ = env.step(box(f"{row} {column} {letter}"))
        total += reward
        ended = terminated or truncated
    assert total == pytest.approx(PARTIAL / env._letters)


def test_the_solution_is_shown_at_the_end_and_not_before() -> None:
    env = CrosswordsEnv(max_turns=2)
    observation, info = env.reset(seed=5)
    words = [entry.word for entry in env._entries]
    observation += env.step("\\boxed{0 99 A}")[0]
    for word in words:
        assert word not in (observation + repr(info) + repr(env)).upper()
    observation, *_ = env.step("\\boxed{0 99 A}")
    _, _, solution = observation.partition("The solution:")
    assert "_" not in solution
    rows = board_of(solution)
    for row, column, down, word in env._entries:
        assert word == "".join(rows[row + i * down][column + i * (not down)] for i in range(len(word)))


@pytest.mark.parametrize("parameters", [{"num_words": 0}, {"num_words": 11}, {"max_turns": 0}])
def test_impossible_parameters_are_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="is a whole number"):
        CrosswordsEnv(**parameters)
