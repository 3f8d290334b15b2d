"""The rules of Minesweeper."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem_games.base import box
from gem_games.minesweeper import MinesweeperEnv


def cells_of(observation: str, env: MinesweeperEnv) -> list[str]:
    """Return the board of an observation as a flat list of cells, checking its row and column numbers."""
    lines = observation.split("\n")
    top = lines.index("    " + " ".join(map(str, range(env.cols))))
    board = [line.split() for line in lines[top + 1 : top + 1 + env.rows]]
    assert [row[0] for row in board] == [str(number) for number in range(env.rows)]
    return [cell for row in board for cell in row[1:]]


def around(cell: int, env: MinesweeperEnv) -> list[int]:
    row, col = divmod(cell, env.cols)
    return [
        r * env.cols + c
        for r in range(row - 1, row + 2)
        for c in range(col - 1, col + 2)
        if 0 <= r < env.rows and 0 <= c < env.cols and (r, c) != (row, col)
    ]


def check_board(shown: list[str], env: MinesweeperEnv) -> None:
    """Check every number against the mines, and that zeros have opened all round them."""
    mines = {cell for cell, character in enumerate(env._counts) if character == ord("*")}
    assert len(mines) == env.num_mines
    for cell, character in enumerate(shown):
        if character == ".":
            continue
        assert character == str(sum(other in mines for other in around(cell, env)))
        if character == "0":
            assert all(shown[other] != "." for other in around(cell, env))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_random_play_never_breaks_the_board(data: st.DataObject) -> None:
    rows, cols = data.draw(st.integers(2, 9)), data.draw(st.integers(2, 9))
    num_mines = data.draw(st.integers(1, rows * cols - 1))
    env = MinesweeperEnv(rows, cols, num_mines, max_turns=rows * cols)
    observation, _ = env.reset(seed=data.draw(st.integers(0, 2**32)))
    assert cells_of(observation, env) == ["."] * rows * cols
    total, first, ended = 0.0, True, False
    while not ended:
        row, column = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, cols - 1))
        observation, reward, terminated, truncated, info = env.step(box(f"{row} {column}"))
        total += reward
        assert reward >= 0
        if first:
            assert "holds a mine" not in observation
            first = False
        ended = terminated or truncated
        if not ended:
            check_board(cells_of(observation, env), env)
    closed_safe = sum(
        shown == ord(".") and content != ord("*") for shown, content in zip(env._shown, env._counts, strict=True)
    )
    assert info["success"] == (closed_safe == 0)
    assert total == pytest.approx(1.0, abs=1e-9) if info["success"] else total <= 0.5 + 1e-9


@pytest.mark.parametrize(
    "rows, cols, num_mines", [(3, 3, 1), (3, 3, 8), (5, 5, 20), (5, 5, 24), (2, 2, 3), (50, 50, 2499)]
)
def test_crowded_boards_are_dealt_and_the_first_cell_is_safe(rows: int, cols: int, num_mines: int) -> None:
    env = MinesweeperEnv(rows, cols, num_mines)
    for first in {(0, 0), (rows // 2, cols // 2), (rows - 1, cols - 1)}:
        env.reset(seed=1)
        observation, *_ = env.step(box(f"{first[0]} {first[1]}"))
        assert f"Row {first[0]}, column {first[1]} is safe" in observation
        assert env._counts.count(b"*") == num_mines


def test_mines_keep_off_the_neighbours_of_the_first_cell_where_there_is_room() -> None:
    env = MinesweeperEnv(8, 8, 55)
    for seed in range(20):
        env.reset(seed=seed)
        env.step("\\boxed{4 4}")
        assert env._shown[4 * 8 + 4] == ord("0")


def test_the_seed_fixes_the_board_whatever_was_opened_before() -> None:
    env = MinesweeperEnv()
    env.reset(seed=9)
    env.step("\\boxed{0 0}")
    board = env._counts
    env.reset(seed=9)
    env.step("\\boxed{8 8}")  # no such cell
    env.step("\\boxed{0 0}")
    assert env._counts == board


def test_a_mine_loses_and_keeps_what_was_earned() -> None:
    env = MinesweeperEnv()
    env.reset(seed=3)
    earned = env.step(env.oracle_action() or "")[1]
    assert 0 < earned < 0.5
    mine = env._counts.index(b"*")
    observation, reward, terminated, truncated, info = env.step(box(f"{mine // 8} {mine % 8}"))
    assert (reward, terminated, truncated, info) == (0.0, True, False, {"success": False})
    assert "holds a mine: you lose." in observation
    assert observation.count("*") == 10 + 1  # the mines, and the legend


def test_opening_the_last_safe_cell_wins() -> None:
    env = MinesweeperEnv(2, 2, 3)
    env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step("\\boxed{1 0}")
    assert (reward, terminated, truncated, info) == (1.0, True, False, {"success": True})
    assert "All safe cells are open: you win!" in observation


@pytest.mark.parametrize("action", ["\\boxed{8 0}", "\\boxed{0 -1}", f"\\boxed{{{'9' * 5000} 1}}"])
def test_a_cell_off_the_board_is_invalid(action: str) -> None:
    env = MinesweeperEnv()
    env.reset(seed=1)
    observation, reward, terminated, truncated, _ = env.step(action)
    assert observation.startswith("There is no such cell: rows go from 0 to 7, columns from 0 to 7.")
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_an_open_cell_cannot_be_opened_again() -> None:
    env = MinesweeperEnv()
    env.reset(seed=1)
    env.step("\\boxed{4 4}")
    observation, reward, *_ = env.step("\\boxed{4 4}")
    assert observation.startswith("Row 4, column 4 is already open.")
    assert reward == 0.0


def test_nothing_tells_where_the_mines_are_before_the_end() -> None:
    env = MinesweeperEnv()
    observation, info = env.reset(seed=1)
    for _ in range(3):
        observation, _, _, _, info = env.step(env.oracle_action() or "")
        assert "*" not in observation + repr(info) + repr(env)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"rows": 3, "cols": 3, "num_mines": 9}, "num_mines is at most 8 on a board of 9 cells.*got 9"),
        ({"num_mines": 0}, "num_mines is a whole number, 1 or larger; got 0"),
        ({"rows": 1}, "rows is a whole number, 2 to 50; got 1"),
        ({"cols": 51}, "cols is a whole number, 2 to 50; got 51"),
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MinesweeperEnv(**parameters)


def test_drawn_boards_are_solvable_within_their_turns() -> None:
    env = MinesweeperEnv(None, None, None, None)
    sizes = set()
    for seed in range(100):
        observation, _ = env.reset(seed=seed)
        sizes.add((env.rows, env.cols))
        assert env.max_turns >= env.rows * env.cols - env.num_mines
        numbers = [int(number) for number in re.findall(r"\d+", observation)[:2]]
        assert numbers == [env.num_mines, env.rows * env.cols]
    assert len(sizes) > 8
