"""The rules of Sokoban, and the levels it is played on."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem_games.base import box
from gem_games.sokoban import SokobanEnv
from gem_games.sokoban_generator import generate, shortest_plan
from gem_games.sokoban_level import parse_level
from gem_games.sokoban_solver import solve

CORRIDOR = "######\n#@ $.#\n######"
WORDS = {"U": "up", "D": "down", "L": "left", "R": "right"}


def playing(level: str, max_turns: int = 50) -> SokobanEnv:
    env = SokobanEnv(level=level, max_turns=max_turns)
    env.reset(seed=0)
    return env


def walk(env: SokobanEnv, letters: str) -> list[tuple[str, float, bool, bool, dict[str, object]]]:
    return [env.step(box(WORDS[letter])) for letter in letters]


def drawn(observation: str) -> list[str]:
    """Return the board of an observation without its numbers."""
    return ["".join(line.split()[1:]) for line in observation.split("\n") if re.match(r" *\d+  +[#]", line)]


def test_a_level_is_drawn_with_numbers_and_a_legend() -> None:
    observation, info = SokobanEnv(level=CORRIDOR).reset(seed=0)
    assert "    0 1 2 3 4 5\n 0  # # # # # #\n 1  # @ _ $ . #\n 2  # # # # # #\n# wall, _ floor, . goal" in observation
    assert observation.endswith(info["suffix"])


def test_walking_and_pushing_solve_the_level() -> None:
    steps = walk(playing(CORRIDOR), "RR")
    assert steps[0][:4] == (steps[0][0], 0.0, False, False)
    assert steps[0][0].startswith("You moved right.")
    observation, reward, terminated, truncated, info = steps[1]
    assert observation.startswith("You pushed a box right onto a goal: 1 of 1 boxes are on goals. You win!")
    assert (reward, terminated, truncated, info) == (1.0, True, False, {"success": True})


@pytest.mark.parametrize(
    "level, move, feedback",
    [
        (CORRIDOR, "U", "You cannot move up: there is a wall."),
        ("#####\n#@$##\n#  .#\n#####", "R", "You cannot push the box right: there is a wall behind it."),
        ("######\n#@$$.#\n#   .#\n######", "R", "You cannot push the box right: there is a box behind it."),
    ],
)
def test_a_blocked_move_changes_nothing_but_the_turns(level: str, move: str, feedback: str) -> None:
    env = playing(level)
    before = drawn(env.reset(seed=0)[0])
    observation, reward, terminated, truncated, _ = walk(env, move)[0]
    assert observation.startswith(feedback)
    assert (drawn(observation), reward, terminated, truncated) == (before, 0.0, False, False)
    assert "Turns left: 49." in observation


def test_pushing_a_box_off_its_goal_takes_its_reward_back() -> None:
    env = playing("#######\n#     #\n#@$.  #\n#   .$#\n#######")
    assert [step[1] for step in walk(env, "RR")] == [0.25, -0.25]


def test_a_box_that_began_on_a_goal_pays_only_for_what_it_cost() -> None:
    env = playing("#######\n#@*  .#\n# $   #\n#     #\n#######")
    rewards = [step[1] for step in walk(env, "RRRDDLLU")]
    assert rewards == [-0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("action", ["\\boxed{UP}", "\\boxed{ Right }", "text \\boxed{left} then \\boxed{down}"])
def test_directions_are_read_whatever_their_case(action: str) -> None:
    env = playing(CORRIDOR)
    assert env.step(action)[1] == 0.0


@pytest.mark.parametrize("action", ["\\boxed{north}", "\\boxed{up up}", "\\boxed{}", "\\boxed{ｕｐ}", "up"])
def test_what_is_no_direction_is_malformed(action: str) -> None:
    assert playing(CORRIDOR).step(action)[1:3] == (-0.1, True)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.text("UDLR", max_size=60))
def test_any_moves_keep_boxes_and_player_on_the_floor(seed: int, moves: str) -> None:
    env = SokobanEnv(max_turns=100)
    observation, _ = env.reset(seed=seed)
    walls = [[character == "#" for character in row] for row in drawn(observation)]
    total = 0.0
    for move in moves:
        observation, reward, terminated, _, info = walk(env, move)[0]
        total += reward
        rows = drawn(observation)
        text = "".join(rows)
        assert [[character == "#" for character in row] for row in rows] == walls
        assert text.count("$") + text.count("*") == 3
        assert text.count(".") + text.count("*") + text.count("+") == 3
        assert text.count("@") + text.count("+") == 1
        if terminated:
            assert info["success"]
            assert total == pytest.approx(1.0, abs=1e-9)
            return
        assert -1e-9 <= total <= 0.5 * text.count("*") / 3 + 1e-9


def test_the_oracle_finds_back_after_straying() -> None:
    env = SokobanEnv(max_turns=400)
    solved = 0
    for seed in range(40):
        env.reset(seed=seed)
        for _ in range(6):
            env.step(env.sample_random_action())
        while (action := env.oracle_action()) is not None:
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                solved += info["success"]
                break
    assert solved >= 20  # the rest was pushed into a corner


def test_the_oracle_knows_a_lost_game() -> None:
    env = playing("#######\n#     #\n# @$  #\n#  .  #\n#######")
    assert env.oracle_action() is not None
    walk(env, "RR")  # the box is at the wall, the goal is not
    assert env.oracle_action() is None
    assert env.oracle_action() is None


# --- levels -----------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_generated_levels_are_solved_by_their_plan_within_the_moves(data: st.DataObject) -> None:
    height, width = data.draw(st.integers(5, 12)), data.draw(st.integers(5, 12))
    num_boxes = data.draw(st.integers(1, max(height, width) - 2))
    moves = shortest_plan(num_boxes) + data.draw(st.integers(0, 40))
    level, plan = generate(random.Random(data.draw(st.integers(0, 2**32))), height, width, num_boxes, moves)
    assert level.boxes.bit_count() == level.goals.bit_count() == num_boxes
    assert not level.boxes & level.goals
    assert 0 < len(plan) <= moves
    text = "\n".join(level.rows(level.boxes, level.player))
    assert parse_level(text).boxes == level.boxes
    last = walk(playing(text, max_turns=len(plan)), plan)[-1]
    assert last[2:] == (True, False, {"success": True})


def test_generated_levels_differ() -> None:
    env = SokobanEnv(dim_room=(8, 8), num_boxes=4, max_turns=50)
    assert len({env.reset(seed=seed)[0] for seed in range(100)}) > 98


def test_the_oracle_solves_boxoban(data_folder: Path) -> None:
    for name, count in (("unfiltered_valid_000", 25), ("hard_000", 3)):
        text = (data_folder / "boxoban" / f"{name}.txt").read_text(encoding="utf-8")
        levels = re.split(r"^; \d+\n", text, flags=re.MULTILINE)[1:]
        assert len(levels) == 1000
        for level in levels:
            assert SokobanEnv(level=level).num_boxes == 4
        for level in levels[:count]:
            env = playing(level, max_turns=400)
            ended = False
            while not ended:
                action = env.oracle_action()
                assert action is not None
                _, _, terminated, truncated, info = env.step(action)
                ended = terminated or truncated
            assert info["success"]


def test_a_level_keeps_its_number_and_ragged_rows() -> None:
    level = "; 12\n\n  ####\n###  #\n#@ $.#\n######\n\n"
    observation, _ = SokobanEnv(level=level).reset(seed=0)
    assert drawn(observation) == ["######", "###__#", "#@_$.#", "######"]


@pytest.mark.parametrize(
    "level, message",
    [
        ("", "exactly one player .* this one has 0"),
        ("#####\n#@@$.#\n#####", "exactly one player .* this one has 2"),
        ("####\n#@ #\n####", "as many goals as boxes, at least one; this one has 0 boxes and 0 goals"),
        ("######\n#@$$.#\n######", "this one has 2 boxes and 1 goals"),
        ("#####\n#@ *#\n#####", "solved already"),
        ("#####\n#@$. \n#####", "The level is not closed"),
        ("#####\n#@$.#\n## ##", "The level is not closed"),
        ("#######\n#@$.###\n#####$#\n#####.#\n#######", "box or goal at row 2, column 5 .* can never come"),
        ("#####\n#@x.#\n#####", "Row 1, column 2 of the level .* is 'x'"),
        ("#####\r#\t$.#\r#####", r"Row 1, column 1 of the level .* is '\\t'"),
        ("#" * 101, "at most 100 rows and 100 columns"),
        (7, "level is the text of a Sokoban level; got int"),
    ],
)
def test_what_cannot_be_played_is_refused(level: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SokobanEnv(level=level)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"num_boxes": 6}, r"num_boxes is at most 5 in a room of \(7, 7\).*got 6"),
        ({"num_boxes": 0}, "num_boxes is a whole number, 1 or larger; got 0"),
        ({"dim_room": (4, 7)}, "Each side of dim_room is a whole number, 5 to 20; got 4"),
        ({"dim_room": 7}, r"dim_room is a pair of numbers.*got 7"),
        ({"dim_room": (7, None)}, "dim_room is a pair of numbers"),
        ({"dim_room": "77"}, "dim_room is a pair of numbers"),
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SokobanEnv(**parameters)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "level, solvable",
    [
        (CORRIDOR, True),
        ("######\n#@ . #\n#   $#\n######", False),
        ("#######\n# @   #\n# $$  #\n# ..  #\n#######", True),
        ("#######\n#@ $$ #\n#  .. #\n#######", False),
    ],
)
def test_the_solver_tells_solvable_levels_from_lost_ones(level: str, solvable: bool) -> None:
    parsed = parse_level(level)
    plan, finished = solve(parsed, parsed.boxes, parsed.player)
    assert finished
    assert (plan is not None) == solvable


def test_the_solver_gives_up_at_its_limit() -> None:
    parsed = parse_level("########\n#      #\n# $$$  #\n# @    #\n#  ... #\n#      #\n########")
    assert solve(parsed, parsed.boxes, parsed.player, limit=1) == (None, False)
