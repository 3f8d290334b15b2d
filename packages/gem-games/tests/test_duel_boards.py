"""Tic-tac-toe, its nested form and connect four: rules, positions, minimax."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem_games.base import box
from gem_games.duel.base import AGENTS, BoardDuel
from gem_games.duel.connect_four import COLUMNS, ROWS, ConnectFourEnv, ConnectFourPosition, _completing
from gem_games.duel.nested_tic_tac_toe import NestedTicTacToeEnv, NestedTicTacToePosition
from gem_games.duel.search import WIN, best_moves
from gem_games.duel.tic_tac_toe import TicTacToeEnv, TicTacToePosition

X, O = AGENTS  # noqa: E741 - the marks


def play(env: BoardDuel, *moves: str) -> Any:
    env.reset(seed=0)
    result = None
    for move in moves:
        assert env.agents, f"the game was over before {move}"
        result = env.step({str(env.current_agent): box(move)})
    return result


# --- tic-tac-toe ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["123", "456", "789", "147", "258", "369", "159", "357"], ids=lambda line: f"line {line}"
)
def test_every_line_of_three_wins(line: str) -> None:
    others = [cell for cell in "123456789" if cell not in line]
    other = next(a + b for a in others for b in others if a != b)
    result = play(TicTacToeEnv(), line[0], other[0], line[1], other[1], line[2])
    assert result[1] == {X: 1.0, O: -1.0}


def test_the_board_of_tic_tac_toe_shows_marks_and_free_cells() -> None:
    env = TicTacToeEnv()
    observations, *_ = play(env, "5", "1")
    assert observations[X] == (
        "You: 5\n"
        "player_1: 1\n"
        " O | 2 | 3\n"
        "---+---+---\n"
        " 4 | X | 6\n"
        "---+---+---\n"
        " 7 | 8 | 9\n"
        "You are X; a number is a free cell.\n"
        "It is your turn. Write the number of a free cell in a box, like \\boxed{2}."
    )


def test_minimax_never_loses_tic_tac_toe_against_any_line() -> None:
    """Every best move of minimax against every move there is, from both seats."""
    games = 0

    def search(position: TicTacToePosition, minimax_moves: bool) -> None:
        nonlocal games
        if position.lost:
            games += 1
            assert not minimax_moves, position
            return
        moves = position.moves()
        if not moves:
            games += 1
            return
        for move in best_moves(position) if minimax_moves else moves:
            search(position.after(move), not minimax_moves)

    search(TicTacToePosition(), True)
    search(TicTacToePosition(), False)
    assert games > 500


def test_minimax_takes_the_fastest_win_and_the_slowest_loss() -> None:
    won = TicTacToePosition().after("1").after("4").after("2").after("5")
    assert best_moves(won) == ("3",)
    lost = TicTacToePosition().after("1").after("2").after("5")  # whatever O does; blocking takes longer
    assert best_moves(lost) == ("9",)


# --- connect four -----------------------------------------------------------------------------------------------------


def rows_of(env: ConnectFourEnv) -> list[str]:
    return [line.replace(" ", "") for line in env._board(X).splitlines()[1 : ROWS + 1]]


def has_four(rows: list[str], mark: str) -> bool:
    """Look for four in a row the slow way."""
    return any(
        all(
            0 <= row + step * down < ROWS
            and 0 <= column + step * right < COLUMNS
            and rows[row + step * down][column + step * right] == mark
            for step in range(4)
        )
        for row in range(ROWS)
        for column in range(COLUMNS)
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
    )


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_connect_four_follows_its_board(rng: random.Random) -> None:
    env = ConnectFourEnv()
    env.reset(seed=0)
    while env.agents:
        agent = str(env.current_agent)
        legal = env.legal_moves()
        assert legal == [str(column + 1) for column in range(COLUMNS) if rows_of(env)[0][column] == "."]
        move = rng.choice(legal)
        _, rewards, *_ = env.step({agent: box(move)})
        rows = rows_of(env)
        assert sum(cell != "." for row in rows for cell in row) == len(env.log)
        assert (rewards[agent] == 1.0) == has_four(rows, "XO"[AGENTS.index(agent)])
        assert not env.agents or any(cell == "." for cell in rows[0])


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 30))
def test_completing_cells_are_those_that_make_four(rng: random.Random, moves: int) -> None:
    position = ConnectFourPosition()
    for _ in range(moves):
        if position.lost or not position.moves():
            return
        position = position.after(rng.choice(position.moves()))
    for column in range(COLUMNS):
        for row in range(ROWS):
            bit = 1 << column * (ROWS + 1) + row
            if not (position.mine | position.theirs) & bit:
                made = ConnectFourPosition(0, position.mine | bit).lost
                had = ConnectFourPosition(0, position.mine).lost
                assert bool(_completing(position.mine) & bit) == made or had


def test_a_full_column_is_no_legal_move() -> None:
    env = ConnectFourEnv()
    play(env, *"121212")  # no four: they alternate
    play(env, *"111111")
    observations, rewards, *_ = env.step({X: box("1")})
    assert "says 1, which is no legal move now" in observations[X]
    assert rewards == {X: 0.0, O: 0.0}


def test_minimax_wins_and_blocks_in_connect_four() -> None:
    three = ConnectFourPosition().after("1").after("7").after("1").after("7").after("1")
    assert best_moves(three, 4) == ("1",)  # O blocks
    assert best_moves(three.after("6"), 4) == ("1",)  # X wins


# --- nested -----------------------------------------------------------------------------------------------------------


def test_a_cell_sends_the_other_player_to_its_board() -> None:
    env = NestedTicTacToeEnv()
    observations, *_ = play(env, "5 1")
    assert env.legal_moves() == [f"1 {cell}" for cell in range(1, 10)]
    assert "Play in board 1" in observations[O]
    observations, *_ = env.step({O: box("5 2")})
    assert "says 5 2, which is no legal move now" in observations[O]


def test_a_finished_board_leaves_the_choice() -> None:
    env = NestedTicTacToeEnv()
    # X wins board 1 by its cells 1, 5 and 9; the last move of O sends X to it again.
    observations, *_ = play(env, "1 1", "1 2", "2 1", "1 3", "3 1", "1 4", "4 1")
    assert "No board is won yet." in observations[X]
    env = NestedTicTacToeEnv()
    play(env, "1 5", "5 1", "1 1", "1 2", "2 1", "1 3", "3 1", "1 4", "4 4", "4 1")
    observations, *_ = env.step({X: box("1 9")})
    assert "Boards won: X 1." in observations[O]
    observations, *_ = env.step({O: box("9 1")})
    assert "Play in any open board" in observations[X]
    assert len({move[0] for move in env.legal_moves()}) == 8
    assert not any(move.startswith("1 ") for move in env.legal_moves())


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False))
def test_nested_follows_its_boards(rng: random.Random) -> None:
    env = NestedTicTacToeEnv()
    env.reset(seed=0)
    lines = ("123", "456", "789", "147", "258", "369", "159", "357")
    marks: dict[str, str] = {}
    won: dict[str, str] = {}
    while env.agents:
        agent = str(env.current_agent)
        last = env.log[-1][1] if env.log else None
        full = {b for b in "123456789" if all(f"{b} {c}" in marks for c in "123456789")}
        open_boards = set("123456789") - full - set(won)
        boards = {last[2]} & open_boards or open_boards if last else open_boards
        expected = {f"{b} {c}" for b in boards for c in "123456789" if f"{b} {c}" not in marks}
        assert set(env.legal_moves()) == expected
        move = rng.choice(env.legal_moves())
        _, rewards, *_ = env.step({agent: box(move)})
        marks[move] = agent
        if any(all(marks.get(f"{move[0]} {cell}") == agent for cell in line) for line in lines):
            won.setdefault(move[0], agent)
        wins = any(all(won.get(board) == agent for board in line) for line in lines)
        assert (rewards[agent] == 1.0) == wins
        assert len(env.log) == len(marks)


def test_a_move_may_be_written_with_commas_or_brackets() -> None:
    for text in ("5 1", "5,1", "(5, 1)", "[5; 1]"):
        env = NestedTicTacToeEnv()
        play(env, text)
        assert env.log == [(X, "5 1")]


# --- search -----------------------------------------------------------------------------------------------------------


def plain_minimax(position: Any, left: int) -> int:
    if position.lost:
        return -WIN - left
    moves = position.moves()
    if not moves:
        return 0
    if left == 0:
        return int(position.estimate())
    return max(-plain_minimax(position.after(move), left - 1) for move in moves)


@pytest.mark.parametrize(
    "start, depth", [(TicTacToePosition(), 4), (ConnectFourPosition(), 3), (NestedTicTacToePosition(), 2)]
)
def test_cuts_and_table_find_what_plain_minimax_finds(start: Any, depth: int) -> None:
    rng = random.Random(7)
    for _ in range(12):
        position = start
        for _ in range(rng.randrange(1, 14)):
            if position.lost or not position.moves():
                break
            position = position.after(rng.choice(position.moves()))
        if position.lost or not position.moves():
            continue
        values = {move: -plain_minimax(position.after(move), depth - 1) for move in position.moves()}
        assert best_moves(position, depth) == tuple(m for m, value in values.items() if value == max(values.values()))


def test_estimates_are_even_handed_and_far_below_a_win() -> None:
    rng = random.Random(1)
    for start in (TicTacToePosition(), ConnectFourPosition(), NestedTicTacToePosition()):
        position: Any = start
        assert position.estimate() == 0
        while position.moves() and not position.lost:
            position = position.after(rng.choice(position.moves()))
            names = {"mine": "theirs", "theirs": "mine", "my_boards": "their_boards", "their_boards": "my_boards"}
            mirrored = type(position)(**{names.get(k, k): v for k, v in position._asdict().items()})
            assert mirrored.estimate() == -position.estimate()
            assert abs(position.estimate()) < WIN // 100
