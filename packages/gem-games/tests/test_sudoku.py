"""The rules of Sudoku, and its puzzles."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem_games import sudoku_generator
from gem_games.base import PARTIAL, box
from gem_games.sudoku import SudokuEnv
from gem_games.sudoku_generator import FEWEST, generate
from gem_games.sudoku_solver import solutions, units_of

VARIANTS = ["game:Sudoku-v0", "game:Sudoku-v0-easy", "game:Sudoku-v0-hard", "game:Sudoku-v0-random"]


def cells_of(observation: str, scale: int) -> str:
    """Return the last board of an observation row by row, checking its frame and its numbers."""
    side = 2 if scale == 4 else 3
    lines = observation.split("\n")
    edge = "   " + ("+" + "-" * (2 * side + 1)) * side + "+"
    edges = [number for number, line in enumerate(lines) if line == edge][-side - 1 :]
    assert [later - earlier for earlier, later in pairwise(edges)] == [side + 1] * side
    assert lines[edges[0] - 1].split() == [str(number) for number in range(1, scale + 1)]
    rows = [line for line in lines[edges[0] : edges[-1]] if line != edge]
    assert [row.split()[0] for row in rows] == [str(number) for number in range(1, scale + 1)]
    assert len({len(line) for line in lines[edges[0] : edges[-1] + 1]}) == 1
    columns = [lines[edges[0] - 1].index(str(number)) for number in range(1, scale + 1)]
    return "".join(row[column] for row in rows for column in columns)


def entry(cell: int, digit: str, scale: int) -> str:
    return box(f"{cell // scale + 1} {cell % scale + 1} {digit}")


def check_solved(board: str, scale: int) -> None:
    digits = set("123456789"[:scale])
    for units in units_of(scale):
        for unit in units:
            assert {board[cell] for cell in unit} == digits


@pytest.mark.parametrize("env_id", VARIANTS)
def test_fifty_boards_have_one_solution_and_the_givens_asked_for(env_id: str) -> None:
    env = gem.make(env_id)
    for seed in range(60):
        observation, _ = env.reset(seed=seed)
        puzzle = cells_of(observation, env.scale)
        assert len(puzzle) - puzzle.count(".") == env.clues
        assert puzzle.count(".") <= env.max_turns
        (solution,) = solutions(puzzle)
        check_solved(solution, env.scale)


@pytest.mark.parametrize(
    "scale, clues",
    [(4, clues) for clues in range(4, 16)] + [(9, clues) for clues in (17, 18, 22, 25, 26, 27, 30, 36, 50, 79, 80)],
)
def test_every_legal_number_of_givens_is_met(scale: int, clues: int) -> None:
    for seed in range(4):
        puzzle, solution = generate(random.Random(seed), scale, clues)
        assert len(puzzle) - puzzle.count(".") == clues
        assert solutions(puzzle, 3) == [solution]


@pytest.mark.slow
def test_every_legal_number_of_givens_is_met_on_many_boards() -> None:
    for scale, fewest in FEWEST.items():
        for clues in range(fewest, scale**2):
            for seed in range(12):
                puzzle, solution = generate(random.Random(seed), scale, clues)
                assert len(puzzle) - puzzle.count(".") == clues
                assert solutions(puzzle) == [solution]


@pytest.mark.parametrize("scale", FEWEST)
def test_the_stored_puzzles_have_the_fewest_givens_and_one_solution(scale: int) -> None:
    for stored in sudoku_generator._SPARSE[scale]:
        puzzle = "".join("." if character.isalpha() else character for character in stored)
        assert len(puzzle) - puzzle.count(".") == FEWEST[scale]
        assert len(solutions(puzzle)) == 1


def test_digging_that_fails_falls_back_to_a_stored_puzzle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sudoku_generator, "_dig", lambda *_: 0)
    puzzle, solution = generate(random.Random(1), 9, 30)
    assert puzzle.count(".") == 51
    assert solutions(puzzle) == [solution]


def test_puzzles_are_various() -> None:
    env = SudokuEnv(9, 30)
    boards, given = set(), set()
    for seed in range(40):
        puzzle = cells_of(env.reset(seed=seed)[0], 9)
        boards.add(puzzle)
        given.add("".join("x" if character != "." else "." for character in puzzle))
    assert len(boards) == len(given) == 40


def test_the_solver_counts_solutions() -> None:
    _, solution = generate(random.Random(3), 9, 40)
    assert solutions(solution) == [solution]
    assert len(solutions("." * 81, 5)) == 5
    assert len(set(solutions("." * 16, 1000))) == 288
    assert solutions("11" + "." * 14) == []
    assert solutions("1234" + "." * 11 + "1", 100) == solutions("1234" + "." * 11 + "1", 99)


@pytest.mark.parametrize("clues", [0, 16, -1])
def test_impossible_givens_of_a_small_board_are_refused(clues: int) -> None:
    with pytest.raises(ValueError, match=r"clues is .*got -?\d+"):
        SudokuEnv(4, clues)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"clues": 16}, r"17 to 80 where scale is 9 \(with fewer no puzzle has a single solution.*got 16"),
        ({"clues": 81}, "17 to 80 where scale is 9.*got 81"),
        ({"scale": 4, "clues": 3}, "4 to 15 where scale is 4.*got 3"),
        ({"scale": None, "clues": 81}, "4 to 15 where scale is 4 or 17 to 80 where scale is 9.*got 81"),
        ({"scale": 6}, "scale is 4 or 9; got 6"),
        ({"scale": 16}, "scale is a whole number, 4 to 9; got 16"),
        ({"max_turns": 0}, "max_turns is a whole number, 1 or larger; got 0"),
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, int | None], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SudokuEnv(**parameters)


@pytest.mark.parametrize(
    "parameters, scales, clues",
    [
        ({"scale": None, "clues": 40, "max_turns": None}, {9}, {40}),
        ({"scale": None, "clues": 5, "max_turns": None}, {4}, {5}),
        ({"scale": 4, "clues": None, "max_turns": None}, {4}, set(range(5, 10))),
    ],
)
def test_drawn_parameters_keep_to_those_given(
    parameters: dict[str, int | None], scales: set[int], clues: set[int]
) -> None:
    env = SudokuEnv(**parameters)
    for seed in range(20):
        env.reset(seed=seed)
        assert env.scale in scales
        assert env.clues in clues
        assert env.max_turns >= env.scale**2 - env.clues


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_random_legal_play_never_breaks_a_rule_or_a_given(data: st.DataObject) -> None:
    scale, clues = data.draw(st.sampled_from([(4, 5), (4, 7), (9, 30), (9, 36)]))
    env = SudokuEnv(scale, clues, max_turns=scale**2)
    observation, _ = env.reset(seed=data.draw(st.integers(0, 2**32)))
    puzzle = board = cells_of(observation, scale)
    (solution,) = solutions(puzzle)
    total, ended = 0.0, False
    while not ended:
        observation, reward, terminated, truncated, info = env.step(env.sample_random_action())
        assert observation.startswith(("You put", "You emptied"))  # no rule broken, nothing without effect
        total += reward
        ended = terminated or truncated
        if not ended:
            after = cells_of(observation, scale)
            assert sum(old != new for old, new in zip(board, after, strict=True)) == 1
            board = after
            check_rules(board, puzzle, scale)
            right = sum(now == best for now, best in zip(board, solution, strict=True)) - clues
            assert total == pytest.approx(PARTIAL * right / puzzle.count("."))
    assert info["success"] == terminated
    if terminated:
        assert cells_of(observation, scale) == solution
        assert total == pytest.approx(1.0)
    else:
        assert total <= PARTIAL


def check_rules(board: str, puzzle: str, scale: int) -> None:
    assert all(given in (".", now) for now, given in zip(board, puzzle, strict=True))
    for units in units_of(scale):
        for unit in units:
            digits = [board[cell] for cell in unit if board[cell] != "."]
            assert len(set(digits)) == len(digits)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 30))
def test_the_oracle_finds_its_way_out_of_wrong_digits(seed: int, turns: int) -> None:
    env = SudokuEnv(4, 5, 1000)
    env.reset(seed=seed)
    total, ended = 0.0, False
    for _ in range(turns):
        if not ended:
            _, reward, ended, _, _ = env.step(env.sample_random_action())
            total += reward
    moves = 0
    while not ended:
        _, reward, ended, _, _ = env.step(env.oracle_action() or "")
        total += reward
        moves += 1
    assert moves <= 3 * 16
    assert total == pytest.approx(1.0, abs=1e-9)


def test_only_what_breaks_a_rule_is_refused_and_for_the_right_reason() -> None:
    seen = set()
    for seed in range(10):
        env = SudokuEnv(9, 36, 10_000)
        puzzle = cells_of(env.reset(seed=seed)[0], 9)
        for cell in range(81):
            for digit in "123456789":
                observation, reward, terminated, truncated, _ = env.step(entry(cell, digit, 9))
                text = observation.split("\n")[0]
                where = f"row {cell // 9 + 1}, column {cell % 9 + 1}"
                clashes = [
                    name
                    for name, unit in zip(("row", "column", "box"), units_of(9)[cell], strict=True)
                    if any(puzzle[other] == digit for other in unit if other != cell)
                ]
                if puzzle[cell] != ".":
                    assert text == f"You cannot change {where}: its {puzzle[cell]} was given."
                elif clashes:
                    names = " and its ".join(clashes)
                    assert text == f"{digit} cannot go into {where}: there is one in its {names} already."
                else:
                    assert text == f"You put {digit} into {where}."
                    changed = puzzle[:cell] + digit + puzzle[cell + 1 :]
                    assert cells_of(observation, 9) == changed
                    observation, back, *_ = env.step(entry(cell, "0", 9))
                    assert observation.startswith(f"You emptied {where}.")
                    assert back == -reward
                    reward = 0.0
                seen.add((puzzle[cell] != ".", len(clashes)))
                assert (reward, terminated, truncated) == (0.0, False, False)
                assert cells_of(observation, 9) == puzzle
    assert {(False, 0), (False, 1), (False, 2), (False, 3)} <= seen


def test_a_reply_does_not_tell_whether_a_digit_is_right() -> None:
    for seed in range(40):
        env = SudokuEnv(9, 30)
        puzzle = cells_of(env.reset(seed=seed)[0], 9)
        (solution,) = solutions(puzzle)
        row, column, digit = (int(number) for number in env.sample_random_action()[7:-1].split())
        observation, reward, *_ = env.step(box(f"{row} {column} {digit}"))
        right = solution[(row - 1) * 9 + column - 1] == str(digit)
        assert observation.split("\n")[0] == f"You put {digit} into row {row}, column {column}."
        assert reward == (pytest.approx(PARTIAL / 51) if right else 0.0)


def test_own_digits_are_marked_and_can_be_changed_and_given_ones_cannot() -> None:
    env = SudokuEnv(4, 7, 100)
    observation, _ = env.reset(seed=2)
    puzzle = cells_of(observation, 4)
    assert "'" not in observation.split("+\n")[-2]
    cell = puzzle.index(".")
    total = 0.0
    action = env.oracle_action() or ""
    digit = action[-2]
    observation, reward, *_ = env.step(action)
    total += reward
    assert reward == pytest.approx(PARTIAL / 9)
    assert f"{digit}'" in observation
    assert cells_of(observation, 4).count(".") == 8
    observation, reward, *_ = env.step(action)
    assert observation.startswith(f"There is a {digit} in row {cell // 4 + 1}, column {cell % 4 + 1} already.")
    assert reward == 0.0
    observation, reward, *_ = env.step(entry(cell, "0", 4))
    assert reward == pytest.approx(-PARTIAL / 9)
    assert cells_of(observation, 4) == puzzle
    observation, reward, *_ = env.step(entry(cell, "0", 4))
    assert observation.startswith("There is nothing in row ")
    assert reward == 0.0


@pytest.mark.parametrize(
    "text, message",
    [
        ("0 1 1", "There is no such cell: rows and columns go from 1 to 9."),
        ("10 1 1", "There is no such cell"),
        ("1 1 -1", "There is no such digit: they go from 1 to 9, and 0 empties a cell that you filled."),
        ("1 1 10", "There is no such digit"),
        ("1 1 " + "9" * 5000, "There is no such digit"),
    ],
)
def test_what_is_off_the_board_is_invalid(text: str, message: str) -> None:
    env = SudokuEnv()
    env.reset(seed=1)
    observation, reward, terminated, truncated, _ = env.step(box(text))
    assert observation.startswith(message)
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_repeating_what_paid_earns_nothing_more() -> None:
    env = SudokuEnv()
    env.reset(seed=4)
    action = env.oracle_action() or ""
    undoing = action[:-2] + "0}"
    for again in ([action], [action, undoing]):  # the same once more; taking it back and entering it again
        env.reset(seed=4)
        total, ended, turn = 0.0, False, 0
        while not ended:
            _, reward, terminated, truncated, _ = env.step(again[turn % len(again)])
            total, turn = total + reward, turn + 1
            ended = terminated or truncated
        assert total == pytest.approx(PARTIAL / 45 * (len(again) == 1), abs=1e-9)


def test_the_solution_is_shown_at_the_end_and_not_before() -> None:
    env = SudokuEnv(max_turns=2)
    observation, info = env.reset(seed=5)
    (solution,) = solutions(cells_of(observation, 9))
    assert solution not in repr(info) + repr(env) + observation
    env.step("\\boxed{1 1 10}")
    observation, *_ = env.step("\\boxed{1 1 10}")
    assert "That was the last turn: the game is over.\nThe solution:" in observation
    assert cells_of(observation, 9) == solution
