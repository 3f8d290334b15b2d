"""The rules of the tower of Hanoi, and its solver."""

from __future__ import annotations

import re
from collections import deque
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem_games.base import PARTIAL
from gem_games.towers_of_hanoi import TowerofHanoiEnv


def pegs_of(observation: str) -> dict[str, list[int]]:
    """Return the disks on each peg of an observation, from bottom to top."""
    return {
        name: [int(disk) for disk in disks.split()] for name, disks in re.findall(r"(?m)^([ABC]) \|(.*)$", observation)
    }


def put(env: TowerofHanoiEnv, where: tuple[int, ...]) -> None:
    """Put each disk, the smallest first, on a peg."""
    disks = range(len(where), 0, -1)
    env._pegs = [[disk for disk in disks if where[disk - 1] == peg] for peg in range(3)]
    env._where = [0, *where]
    env._left = env._solution()[0]


def distances(num_disks: int) -> dict[tuple[int, ...], int]:
    """Return how many moves each position is from all disks on C, by looking at all of them."""
    goal = (2,) * num_disks
    found, queue = {goal: 0}, deque([goal])
    while queue:
        where = queue.popleft()
        for disk, peg in product(range(num_disks), range(3)):
            # Legal if no smaller disk lies on it, nor on the peg it goes to.
            if where[disk] != peg and not {where[disk], peg} & set(where[:disk]):
                after = (*where[:disk], peg, *where[disk + 1 :])
                if after not in found:
                    found[after] = found[where] + 1
                    queue.append(after)
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from("ABC")), max_size=60))
def test_play_keeps_the_disks_in_order(num_disks: int, moves: list[tuple[str, str]]) -> None:
    env = TowerofHanoiEnv(num_disks, max_turns=100)
    before = pegs_of(env.reset(seed=0)[0])
    assert before == {"A": list(range(num_disks, 0, -1)), "B": [], "C": []}
    total = 0.0
    for source, target in moves:
        observation, reward, terminated, _, info = env.step(f"\\boxed{{{source} {target}}}")
        total += reward
        after = pegs_of(observation)
        assert sorted(disk for peg in after.values() for disk in peg) == list(range(1, num_disks + 1))
        assert all(peg == sorted(peg, reverse=True) for peg in after.values())
        legal = bool(source != target and before.get(source)) and (
            not before[target] or before[target][-1] > before[source][-1]
        )
        assert ("moved from" in observation) == legal
        if not legal:
            assert (after, reward) == (before, 0.0)
        before = after
        if terminated:
            assert info == {"success": True}
            assert len(after["C"]) == num_disks
            assert total == pytest.approx(1.0, abs=1e-9)
            return
        assert -1e-9 <= total <= PARTIAL
    assert len(before["C"]) < num_disks


def test_the_solver_takes_the_fewest_moves_from_every_position() -> None:
    env = TowerofHanoiEnv(4, max_turns=100)
    for where, moves in distances(4).items():
        env.reset(seed=0)
        put(env, where)
        assert env._solution()[0] == moves
        action = env.oracle_action()
        if moves:
            env.step(action or "")
            assert env._left == moves - 1
        else:
            assert action is None


@pytest.mark.parametrize("num_disks", range(1, 9))
def test_the_solver_needs_one_less_than_a_power_of_two(num_disks: int) -> None:
    env = TowerofHanoiEnv(num_disks, max_turns=2**num_disks - 1)
    env.reset(seed=0)
    total = 0.0
    for turn in range(1, 2**num_disks):
        _, reward, terminated, truncated, info = env.step(env.oracle_action() or "")
        total += reward
        assert not truncated
        assert terminated == (turn == 2**num_disks - 1)
    assert info == {"success": True}
    assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("action", ["A C", "a c", "A,C", "A, C", "(A C)", "[a][c]", "AC", "A -> C", "A->C"])
def test_pegs_can_be_named_in_several_ways(action: str) -> None:
    env = TowerofHanoiEnv()
    env.reset(seed=0)
    assert env.step(f"\\boxed{{{action}}}")[0].startswith("Disk 1 moved from A to C.")


@pytest.mark.parametrize(
    "actions, message",
    [
        (["A A"], "The disk must go to another peg than A, which it is on."),
        (["B B"], "The disk must go to another peg than B, which it is on."),
        (["B C"], "There is no disk on peg B."),
        (["A C", "A C"], "Disk 2 cannot go from A to C: it is larger than disk 1 there."),
        (["A D"], "There is no peg D: they are A, B and C."),
        (["É A"], "There is no peg É: they are A, B and C."),
    ],
)
def test_what_the_rules_forbid_changes_nothing(actions: list[str], message: str) -> None:
    env = TowerofHanoiEnv()
    env.reset(seed=0)
    for action in actions[:-1]:
        env.step(f"\\boxed{{{action}}}")
    before = [list(peg) for peg in env._pegs]
    observation, reward, terminated, truncated, _ = env.step(f"\\boxed{{{actions[-1]}}}")
    assert observation.startswith(message)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert env._pegs == before
    assert env.turn == len(actions)


@pytest.mark.parametrize(
    "action", ["A", "A B C", "1 3", "A to C", "", "A" + " " * 200_000 + "C", "Peg 9 to Peg 2", "²³"]
)
def test_what_names_no_two_pegs_is_malformed(action: str) -> None:
    env = TowerofHanoiEnv()
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(f"\\boxed{{{action}}}")
    assert (reward, terminated, truncated, info) == (-0.1, True, False, {"success": False})
    assert "no action that can be read" in observation


def test_moving_a_disk_to_and_fro_earns_nothing() -> None:
    env = TowerofHanoiEnv(4, max_turns=200)
    env.reset(seed=0)
    total = sum(env.step(action)[1] for _ in range(100) for action in ("\\boxed{A B}", "\\boxed{B A}"))
    assert total == pytest.approx(0.0, abs=1e-9)


def test_all_disks_on_the_middle_peg_are_no_solution() -> None:
    env = TowerofHanoiEnv(3, max_turns=20)
    env.reset(seed=0)
    put(env, (0, 1, 1))
    _, _, terminated, _, _ = env.step("\\boxed{A B}")
    assert not terminated
    assert env._left == 7


def test_sampled_moves_are_legal_and_reach_all_of_them() -> None:
    env = TowerofHanoiEnv(3, max_turns=10_000)
    env.reset(seed=0)
    seen = set()
    for _ in range(2_000):
        action = env.sample_random_action()
        seen.add(action)
        observation, _, terminated, _, _ = env.step(action)
        assert " moved from " in observation
        if terminated:
            env.reset()
    assert len(seen) == 6


def test_drawn_games_leave_turns_to_spare() -> None:
    env = TowerofHanoiEnv(None, None)
    drawn = set()
    for seed in range(100):
        observation, _ = env.reset(seed=seed)
        assert observation.startswith(f"Tower of Hanoi with {env.num_disks} disks")
        assert 2**env.num_disks - 1 < env.max_turns < 2 ** (env.num_disks + 1)
        drawn.add((env.num_disks, env.max_turns))
    assert {disks for disks, _ in drawn} == {3, 4, 5}
    assert len(drawn) > 10


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"num_disks": 0}, "num_disks is a whole number, 1 to 20; got 0"),
        ({"num_disks": 21}, "num_disks is a whole number, 1 to 20; got 21"),
        ({"max_turns": 0}, "max_turns is a whole number, 1 or larger; got 0"),
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TowerofHanoiEnv(**parameters)
