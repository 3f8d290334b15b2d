"""The rules of the fifteen puzzle, its boards and its solver."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem_games.base import PARTIAL, box
from gem_games.fifteen_puzzle import FifteenPuzzleEnv
from gem_games.fifteen_puzzle_solver import find_path, shortest_path, slides, solved_board

DIRECTIONS = ("up", "down", "left", "right")


def tiles_of(observation: str, rows: int) -> list[int]:
    """Return the last board of an observation, 0 for the blank."""
    lines = [line for line in observation.split("\n") if line and set(line) <= set("0123456789_ ")][-rows:]
    assert len({len(line) for line in lines}) == 1  # aligned
    tiles = [0 if "_" in cell else int(cell) for line in lines for cell in line.split()]
    assert sorted(tiles) == list(range(rows * rows))
    return tiles


def can_be_solved(tiles: list[int], rows: int) -> bool:
    """Tell it by the usual rule: inversions without the blank, and for an even width the blank's row from below."""
    numbers = [tile for tile in tiles if tile]
    inversions = sum(a > b for place, a in enumerate(numbers) for b in numbers[place + 1 :])
    if rows % 2:
        return inversions % 2 == 0
    return (inversions + rows - tiles.index(0) // rows) % 2 == 1


def put(env: FifteenPuzzleEnv, tiles: list[int]) -> None:
    """Put another board in the place of the one dealt."""
    env._tiles, env._blank, env._path = list(tiles), tiles.index(0), []
    env._away = env._dealt = sum(env._distances[tile][cell] for cell, tile in enumerate(tiles))


def after(board: bytes, moves: list[str], rows: int) -> bytes:
    """Return the board after moves, all of which must be legal."""
    cells = bytearray(board)
    for move in moves:
        blank = cells.index(0)
        source = slides(rows)[blank][move]
        cells[blank], cells[source] = cells[source], 0
    return bytes(cells)


def farthest_boards(rows: int) -> tuple[int, dict[bytes, int]]:
    """Return how far the farthest board is, and the distance of each, by looking at all of them."""
    found = {solved_board(rows): 0}
    wave = list(found)
    while wave:
        following = []
        for board in wave:
            for direction in slides(rows)[board.index(0)]:
                other = after(board, [direction], rows)
                if other not in found:
                    found[other] = found[board] + 1
                    following.append(other)
        wave = following
    return max(found.values()), found


@pytest.mark.parametrize("num_rows, max_turns", [(2, 10), (3, 40), (4, 50), (2, 1), (3, 12), (4, 12), (4, 1), (6, 90)])
def test_every_board_can_be_solved_and_none_is_yet(num_rows: int, max_turns: int) -> None:
    env = FifteenPuzzleEnv(num_rows, max_turns)
    boards = set()
    for seed in range(300):
        observation, _ = env.reset(seed=seed)
        tiles = tiles_of(observation, num_rows)
        assert tiles == env._tiles
        assert can_be_solved(tiles, num_rows)
        assert bytes(tiles) != solved_board(num_rows)
        assert len(env._path) <= max_turns
        if env._path:
            assert after(bytes(tiles), env._path[::-1], num_rows) == solved_board(num_rows)
        boards.add(tuple(tiles))
    assert len(boards) == (11 if (num_rows, max_turns) == (2, 10) else len(boards))
    assert len(boards) > 1
    assert max_turns < 40 or len(boards) > 290


def test_boards_of_random_size_are_dealt_again_and_again() -> None:
    sizes = set()
    for seed in range(50):
        env = FifteenPuzzleEnv(None, None)
        observation, _ = env.reset(seed=seed)
        assert can_be_solved(tiles_of(observation, env.num_rows), env.num_rows)
        sizes.add(env.num_rows)
    assert sizes == {2, 3, 4}
    env = FifteenPuzzleEnv(None, 40)
    for _ in range(50):
        env.reset()
        assert env.max_turns == 40
    env = FifteenPuzzleEnv(3, None)
    for _ in range(50):
        env.reset()
        assert env.num_rows == 3
        assert 31 <= env.max_turns <= 45


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_only_the_blank_in_the_last_cell_is_solved(rows: int) -> None:
    env = FifteenPuzzleEnv(rows, 10)
    env.reset(seed=1)
    ordered = list(range(rows * rows))
    first = [ordered[1], 0, *ordered[2:]]  # right: tile 1 slides into the second cell, and the blank comes first
    put(env, first)
    _, _, terminated, _, info = env.step("\\boxed{right}")
    assert env._tiles == ordered
    assert not terminated
    assert "success" not in info
    nearly = [*range(1, rows * rows - 1), 0, rows * rows - 1]
    put(env, nearly)
    observation, _, terminated, truncated, info = env.step("\\boxed{left}")
    assert (terminated, truncated, info) == (True, False, {"success": True})
    assert observation.startswith(f"Tile {rows * rows - 1} slid left. All tiles are in order: you win!")


def test_the_tile_moves_the_way_that_is_named() -> None:
    env = FifteenPuzzleEnv()
    env.reset(seed=1)
    for move, moved in (("up", 7), ("down", 2), ("left", 5), ("right", 4)):
        put(env, [1, 2, 3, 4, 0, 5, 6, 7, 8])
        observation, *_ = env.step(box(move))
        assert observation.startswith(f"Tile {moved} slid {move}.")
        assert env._tiles[4] == moved


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 5), st.integers(0, 2**32), st.lists(st.sampled_from(DIRECTIONS), min_size=1, max_size=60))
def test_play_keeps_every_tile_and_a_way_to_solve_it(rows: int, seed: int, moves: list[str]) -> None:
    env = FifteenPuzzleEnv(rows, max_turns=100)
    before = tiles_of(env.reset(seed=seed)[0], rows)
    total = 0.0
    for move in moves:
        blank = before.index(0)
        row, col = divmod(blank, rows)
        legal = {"up": row < rows - 1, "down": row > 0, "left": col < rows - 1, "right": col > 0}[move]
        observation, reward, terminated, truncated, info = env.step(box(move))
        total += reward
        tiles = tiles_of(observation, rows)
        if legal:
            source = blank + {"up": rows, "down": -rows, "left": 1, "right": -1}[move]
            assert tiles[blank] == before[source]
            assert tiles[source] == 0
            assert sum(a != b for a, b in zip(tiles, before, strict=True)) == 2
        else:
            assert (tiles, reward) == (before, 0.0)
            assert observation.startswith(f"No tile can slide {move}: the blank is at the edge of the board.")
        assert can_be_solved(tiles, rows)
        if rows > 3:
            assert after(bytes(tiles), env._path[::-1], rows) == solved_board(rows)
        assert terminated == (bytes(tiles) == solved_board(rows))
        before = tiles
        if terminated:
            assert info == {"success": True}
            assert total == pytest.approx(1.0, abs=1e-9)
            return
        assert not truncated
        assert -1e-9 <= total <= PARTIAL


def test_a_tile_slid_to_and_fro_earns_nothing() -> None:
    env = FifteenPuzzleEnv(3, max_turns=200)
    for seed in range(10):
        env.reset(seed=seed)
        move = env.sample_random_action()
        back = {"up": "down", "down": "up", "left": "right", "right": "left"}[move[7:-1]]
        total = sum(env.step(action)[1] for _ in range(50) for action in (move, box(back)))
        assert total == pytest.approx(0.0, abs=1e-9)


def test_shortest_solutions_are_the_shortest() -> None:
    most, boards = farthest_boards(2)
    assert (most, len(boards)) == (6, 12)
    for board, moves in boards.items():
        path = shortest_path(board, 2)
        assert len(path) == moves
        assert after(board, path, 2) == solved_board(2)


@pytest.mark.slow
def test_shortest_solutions_of_three_rows_are_the_shortest() -> None:
    most, boards = farthest_boards(3)
    assert (most, len(boards)) == (31, 181_440)
    hardest = [board for board, moves in boards.items() if moves >= 30]
    for board in random.Random(1).sample(list(boards), 200) + hardest[:20]:
        path = shortest_path(board, 3)
        assert len(path) == boards[board]
        assert after(board, path, 3) == solved_board(3)


def test_the_solver_needs_31_moves_for_the_hardest_board() -> None:
    board = bytes([8, 6, 7, 2, 5, 4, 3, 0, 1])
    path = shortest_path(board, 3)
    assert len(path) == 31
    assert after(board, path, 3) == solved_board(3)


def test_a_search_finds_solutions_within_the_moves_given_or_none() -> None:
    env = FifteenPuzzleEnv(4, 30)
    for seed in range(10):
        env.reset(seed=seed)
        board = bytes(env._tiles)
        path = find_path(board, 4, 40)
        assert path is not None
        assert len(path) <= 40
        assert after(board, path, 4) == solved_board(4)
        assert find_path(board, 4, 40, limit=1) is None
        assert find_path(board, 4, 0) is None


@pytest.mark.parametrize("num_rows, max_turns, strays", [(2, 10, 4), (3, 40, 9), (3, 20, 4), (4, 50, 8), (5, 40, 4)])
def test_the_oracle_solves_what_others_have_begun(num_rows: int, max_turns: int, strays: int) -> None:
    env = FifteenPuzzleEnv(num_rows, max_turns)
    solved = 0
    for seed in range(10):
        env.reset(seed=seed)
        for _ in range(strays):
            env.step(env.sample_random_action())
        board, left = bytes(env._tiles), max_turns - strays
        shortest = len(shortest_path(board, num_rows)) if num_rows < 4 and env._away else 0
        ended, info = not env._away, {"success": True}
        while not ended:
            _, _, terminated, truncated, info = env.step(env.oracle_action() or "")
            ended = terminated or truncated
        solved += info["success"]
        if num_rows < 4:
            assert info["success"] == (shortest <= left)
    assert solved >= 5


def test_the_oracle_has_no_more_to_say_once_it_is_solved() -> None:
    env = FifteenPuzzleEnv(2, 10)
    env.reset(seed=1)
    terminated = False
    while not terminated:
        _, _, terminated, _, _ = env.step(env.oracle_action() or "")
    assert env.oracle_action() is None


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_sampled_moves_are_legal_and_of_all_directions(rows: int) -> None:
    env = FifteenPuzzleEnv(rows, 1_000)
    env.reset(seed=1)
    seen = set()
    for _ in range(300):
        action = env.sample_random_action()
        seen.add(action)
        observation, _, terminated, _, _ = env.step(action)
        assert " slid " in observation
        if terminated:
            env.reset()
    assert seen == set(map(box, DIRECTIONS))


@pytest.mark.parametrize("text", ["UP", "Up", " up "])
def test_directions_are_read_in_any_case(text: str) -> None:
    env = FifteenPuzzleEnv(2, 10)
    env.reset(seed=1)
    put(env, [1, 0, 3, 2])
    assert env.step(f"\\boxed{{{text}}}")[2]


@pytest.mark.parametrize("text", ["", "north", "up up", "12", "u", "up" * 100_000, "ＵＰ"])
def test_what_is_no_direction_is_malformed(text: str) -> None:
    env = FifteenPuzzleEnv()
    env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step(f"\\boxed{{{text}}}")
    assert (reward, terminated, truncated, info) == (-0.1, True, False, {"success": False})


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"num_rows": 1}, "num_rows is a whole number, 2 to 10; got 1"),
        ({"num_rows": 11}, "num_rows is a whole number, 2 to 10; got 11"),
        ({"max_turns": 0}, "max_turns is a whole number, 1 or larger; got 0"),
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FifteenPuzzleEnv(**parameters)
