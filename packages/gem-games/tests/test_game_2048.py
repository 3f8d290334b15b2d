"""The rules of 2048, its board and its solver."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem_games.base import PARTIAL, box
from gem_games.game_2048 import Game2048Env
from gem_games.game_2048_board import DIRECTIONS, cells, empty_cells, moved, moves, transposed
from gem_games.game_2048_solver import choose_move

tiles_of_boards = st.lists(st.sampled_from([0, 0, 1, 1, 2, 2, 3, 4, 9, 14, 15]), min_size=16, max_size=16)


def packed(exponents: list[int]) -> int:
    return sum(exponent << 4 * place for place, exponent in enumerate(exponents))


def numbers_of(observation: str) -> list[int]:
    """Return the board of an observation, 0 for an empty cell."""
    lines = [line for line in observation.split("\n") if line and set(line) <= set("0123456789. ")][-4:]
    assert len({len(line) for line in lines}) == 1  # aligned
    numbers = [0 if cell == "." else int(cell) for line in lines for cell in line.split()]
    assert len(numbers) == 16
    return numbers


def slid(line: list[int]) -> list[int]:
    """Slide a line of exponents to its front, the plain way."""
    tiles, result = [tile for tile in line if tile], []
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile != 15:
            tiles.pop(0)
            tile += 1
        result.append(tile)
    return result + [0] * (4 - len(result))


def slid_board(exponents: list[int], direction: str) -> list[int]:
    rows = [exponents[start : start + 4] for start in range(0, 16, 4)]
    if direction in ("up", "down"):
        rows = [list(column) for column in zip(*rows, strict=True)]
    rows = [slid(row[::-1])[::-1] if direction in ("down", "right") else slid(row) for row in rows]
    if direction in ("up", "down"):
        rows = [list(column) for column in zip(*rows, strict=True)]
    return [tile for row in rows for tile in row]


def put(env: Game2048Env, exponents: list[int]) -> None:
    """Put another board in the place of the one dealt."""
    env._cells = packed(exponents)
    env._start = env._largest = max(exponents)


@settings(deadline=None)
@given(tiles_of_boards)
def test_moves_slide_and_join_as_the_rules_say(exponents: list[int]) -> None:
    board = packed(exponents)
    assert cells(board) == exponents
    assert cells(transposed(board)) == [exponents[4 * column + row] for row in range(4) for column in range(4)]
    assert [shift // 4 for shift in empty_cells(board)] == [place for place in range(16) if not exponents[place]]
    after = {direction: packed(slid_board(exponents, direction)) for direction in DIRECTIONS}
    assert {direction: moved(board, direction) for direction in DIRECTIONS} == after
    assert dict(moves(board)) == {direction: other for direction, other in after.items() if other != board}


@pytest.mark.parametrize(
    "line, left, right",
    [
        ([1, 1, 1, 1], [2, 2, 0, 0], [0, 0, 2, 2]),  # a tile that was joined joins no other
        ([1, 1, 2, 0], [2, 2, 0, 0], [0, 0, 2, 2]),
        ([1, 1, 1, 0], [2, 1, 0, 0], [0, 0, 1, 2]),  # those nearest to the side join first
        ([3, 0, 0, 3], [4, 0, 0, 0], [0, 0, 0, 4]),
        ([1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2]),
        ([0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 1]),
    ],
)
def test_a_line_slides(line: list[int], left: list[int], right: list[int]) -> None:
    board = packed([*line, *[0] * 12])
    assert cells(moved(board, "left"))[:4] == left
    assert cells(moved(board, "right"))[:4] == right
    assert cells(moved(transposed(board), "up"))[::4] == left
    assert cells(moved(transposed(board), "down"))[::4] == right


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.sampled_from(DIRECTIONS), min_size=1, max_size=80))
def test_play_adds_one_tile_a_move_and_loses_none(seed: int, directions: list[str]) -> None:
    env = Game2048Env(32, max_turns=100)
    before = numbers_of(env.reset(seed=seed)[0])
    assert sorted(before)[:14] == [0] * 14
    assert set(before) <= {0, 2, 4}
    total = 0.0
    for turn, direction in enumerate(directions, 1):
        observation, reward, terminated, truncated, info = env.step(box(direction))
        total += reward
        after = numbers_of(observation)
        exponents = [number.bit_length() - 1 if number else 0 for number in before]
        expected = [1 << tile if tile else 0 for tile in slid_board(exponents, direction)]
        if expected == before:
            assert observation.startswith(f"Sliding {direction} does not change the board, so it is not allowed.")
            assert (after, reward) == (before, 0.0)
        elif terminated and info["success"]:
            assert after == expected
            assert max(after) == 32
            assert total == pytest.approx(1.0, abs=1e-9)
            return
        else:
            new = [place for place in range(16) if after[place] != expected[place]]
            assert len(new) == 1
            assert expected[new[0]] == 0
            assert after[new[0]] in (2, 4)
        assert max(after) < 32
        assert 0 <= total <= PARTIAL
        assert not truncated
        assert env.turn == turn
        if terminated:
            assert info == {"success": False}
            assert not moves(env._cells)
            return
        before = after


def test_new_tiles_are_mostly_twos_and_come_anywhere() -> None:
    env = Game2048Env()
    values: Counter[int] = Counter()
    places: Counter[int] = Counter()
    for seed in range(1000):
        numbers = numbers_of(env.reset(seed=seed)[0])
        values.update(number for number in numbers if number)
        places.update(place for place, number in enumerate(numbers) if number)
    assert values.total() == 2000
    assert 140 < values[4] < 260
    assert len(places) == 16
    assert min(places.values()) > 80


def test_reaching_the_target_wins_even_on_the_last_turn_and_without_room() -> None:
    env = Game2048Env(64, max_turns=1)
    env.reset(seed=1)
    put(env, [5, 5, 1, 2, 3, 1, 2, 1, 1, 3, 1, 3, 3, 1, 3, 1])
    observation, reward, terminated, truncated, info = env.step("\\boxed{left}")
    assert (reward, terminated, truncated, info) == (1.0, True, False, {"success": True})
    assert observation.startswith("The tiles slid left. The largest tile is now 64. You win!")


def test_a_board_without_a_move_is_lost() -> None:
    env = Game2048Env(64, max_turns=1)
    env.reset(seed=1)
    put(env, [5, 0, 4, 3, 3, 4, 3, 4, 4, 3, 4, 3, 3, 4, 3, 4])  # sliding right leaves the first cell to a 2 or a 4
    observation, reward, terminated, truncated, info = env.step("\\boxed{right}")
    assert (reward, terminated, truncated, info) == (0.0, True, False, {"success": False})
    assert "No move is left: you lose." in observation
    assert env.oracle_action() is None
    assert env.sample_random_action() in set(map(box, DIRECTIONS))


def test_a_full_board_with_a_pair_goes_on() -> None:
    env = Game2048Env(64, max_turns=10)
    env.reset(seed=1)
    put(env, [1, 1, 4, 3, 3, 4, 3, 4, 4, 3, 4, 3, 3, 4, 3, 4])
    _, _, terminated, truncated, _ = env.step("\\boxed{left}")
    assert not terminated
    assert not truncated


def test_a_move_that_changes_nothing_brings_no_tile_and_no_other_luck() -> None:
    env, twin = Game2048Env(), Game2048Env()
    for each in (env, twin):
        each.reset(seed=4)
        put(each, [1, 2, *[0] * 14])
    for _ in range(5):
        observation, reward, *_ = env.step("\\boxed{left}")
        assert reward == 0.0
        assert sorted(numbers_of(observation))[13:] == [0, 2, 4]
    assert env.step("\\boxed{down}")[0].split("Turns")[0] == twin.step("\\boxed{down}")[0].split("Turns")[0]
    assert (env.turn, twin.turn) == (6, 1)


def test_asking_for_actions_does_not_change_what_comes() -> None:
    env, twin = Game2048Env(), Game2048Env()
    env.reset(seed=5)
    twin.reset(seed=5)
    for _ in range(20):
        action = env.oracle_action() or ""
        env.sample_random_action()
        assert env.step(action) == twin.step(action)


def test_sampled_moves_are_legal_and_of_all_directions() -> None:
    env = Game2048Env(1024, 10_000)
    env.reset(seed=1)
    seen = set()
    for _ in range(500):
        action = env.sample_random_action()
        seen.add(action)
        observation, _, terminated, _, _ = env.step(action)
        assert observation.startswith("The tiles slid ")
        if terminated:
            env.reset()
    assert seen == set(map(box, DIRECTIONS))


def test_progress_is_paid_once_a_doubling() -> None:
    env = Game2048Env(64, max_turns=50)
    env.reset(seed=2)
    paid = 0.0
    largest = max(numbers_of(env._board()))
    start = largest
    for _ in range(40):
        observation, reward, terminated, _, _ = env.step(env.oracle_action() or "")
        if terminated:
            break
        grown = max(numbers_of(observation))
        assert (reward > 0) == (grown > largest)
        largest = grown
        paid += reward
    steps = largest.bit_length() - start.bit_length()
    assert paid == pytest.approx(PARTIAL * steps / (7 - start.bit_length()), abs=1e-9)


def solved(env_id: str, seeds: range) -> float:
    """Return which share of the seeds the oracle solves, each for a return of one."""
    env = gem.make(env_id)
    won = 0
    for seed in seeds:
        env.reset(seed=seed)
        total, ended = 0.0, False
        while not ended:
            _, reward, terminated, truncated, info = env.step(env.oracle_action())
            total += reward
            ended = terminated or truncated
        assert info["success"] == (abs(total - 1.0) < 1e-9)
        won += info["success"]
    return won / len(seeds)


@pytest.mark.parametrize("env_id, count", [("-random", 30), ("-easy", 25), ("", 3), ("-hard", 2)])
def test_the_oracle_reaches_the_target(env_id: str, count: int) -> None:
    assert solved(f"game:Game2048-v0{env_id}", range(count)) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ["-random", "-easy", "", "-hard"])
def test_the_oracle_reaches_the_target_on_nearly_all_seeds(env_id: str) -> None:
    assert solved(f"game:Game2048-v0{env_id}", range(200)) >= 0.98


def test_the_solver_takes_the_target_where_it_can_be_had() -> None:
    rng = random.Random(1)
    for _ in range(20):
        exponents = [rng.choice([0, 1, 2, 3]) for _ in range(14)]
        board = packed([8, 8, *exponents])
        assert 9 in cells(moved(board, choose_move(board, 9) or ""))
    assert choose_move(packed([1, 2, 1, 2, 2, 1, 2, 1] * 2), 9) is None


@pytest.mark.parametrize("text", ["", "north", "up down", "12", "up" * 100_000, "ＵＰ"])
def test_what_is_no_direction_is_malformed(text: str) -> None:
    env = Game2048Env()
    env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step(f"\\boxed{{{text}}}")
    assert (reward, terminated, truncated, info) == (-0.1, True, False, {"success": False})


def test_drawn_games_leave_turns_to_spare() -> None:
    env = Game2048Env(None, None)
    drawn = set()
    for seed in range(50):
        env.reset(seed=seed)
        drawn.add((env.target_tile, env.max_turns))
    assert drawn == {(16, 20), (32, 30), (64, 50)}
    for max_turns, targets in ((1, {16}), (35, {16, 32}), (500, {16, 32, 64})):
        env = Game2048Env(None, max_turns)
        seen = set()
        for seed in range(50):
            env.reset(seed=seed)
            seen.add(env.target_tile)
        assert seen == targets


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"target_tile": 4}, "target_tile is a whole number, 8 to 32768; got 4"),
        ({"target_tile": 65536}, "target_tile is a whole number, 8 to 32768; got 65536"),
        ({"target_tile": 100}, "target_tile is a power of two, 8 to 32768; got 100"),
        ({"max_turns": 0}, "max_turns is a whole number, 1 or larger; got 0"),
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Game2048Env(**parameters)
