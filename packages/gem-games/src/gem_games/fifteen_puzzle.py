"""Fifteen puzzle: slide numbered tiles into order."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from gem_games.base import Game, box, direction, whole_number
from gem_games.fifteen_puzzle_solver import OPPOSITE, distances, find_path, shortest_path, slides, solved_board

__all__ = ["FifteenPuzzleEnv"]

_LARGEST = 10
_FARTHEST = {2: 6, 3: 31}  # moves that the hardest board needs; found by looking at all of them
_WALK = 8  # moves per cell that mix a larger board well


class FifteenPuzzleEnv(Game[str]):
    r"""Slide the tiles of a square board into order, 1 first and the blank last.

    Every board dealt can be solved within `max_turns` moves, and none is in order already. Boards of two and three
    rows are drawn from all that can be solved, where the turns suffice for the hardest (6 and 31 moves); other boards
    are mixed from the solved one by at most `max_turns` legal moves that never go straight back.

    Progress: the share of the tiles' distances (rows plus columns to their places) that is undone, against those of the
    board as it was dealt; 0 while they are larger than that.

    Args:
        num_rows: Rows and columns, 2 to 10; None draws 2 to 4 at each reset.
        max_turns: The moves allowed; None draws, at each reset, 6 to 12 for two rows, 31 to 45 for three, and 10 to 15
            per row for larger boards.
        scoring: `reward`, `format_error_reward`, `end_on_format_error`: see `Game`.

    Raises:
        ValueError: A parameter is out of bounds.
    """

    num_rows: int

    def __init__(self, num_rows: int | None = 3, max_turns: int | None = 40, **scoring: Any) -> None:
        super().__init__(**scoring)
        self._keep(
            num_rows=whole_number("num_rows", num_rows, 2, _LARGEST), max_turns=whole_number("max_turns", max_turns, 1)
        )
        self._deal()

    def _draw(self) -> None:
        if "num_rows" in self._open:
            self.num_rows = self.rng.randint(2, 4)
        if "max_turns" in self._open:
            rows = self.num_rows
            least, most = {2: (6, 12), 3: (31, 45)}.get(rows, (10 * rows, 15 * rows))
            self.max_turns = self.rng.randint(least, most)

    def _deal(self) -> None:
        rows = self.num_rows
        self._slides, self._distances, self._labels = slides(rows), distances(rows), _labels(rows)
        self._tiles = list(solved_board(rows))
        self._blank = len(self._tiles) - 1
        self._path: list[str] = []  # a solution, its next move last, as soon as one is known
        self._searched = False  # whether a shorter one was looked for since the play strayed from it
        if self.max_turns >= _FARTHEST.get(rows, self.max_turns + 1):
            self._shuffle()
        else:
            self._walk(min(self.max_turns, _WALK * len(self._tiles)))
        self._away = self._dealt = sum(self._distances[tile][cell] for cell, tile in enumerate(self._tiles))

    def _shuffle(self) -> None:
        """Draw any board that can be solved, but the solved one."""
        solved, tiles = list(self._tiles), self._tiles
        while tiles == solved:  # 1 in 12 or fewer
            self.rng.shuffle(tiles)
            if not _is_even(tiles, self.num_rows):
                # Two tiles that change places turn a board that cannot be solved into one that can.
                first, second = (cell for cell in range(3) if tiles[cell]) if 0 in tiles[:3] else (0, 1)
                tiles[first], tiles[second] = tiles[second], tiles[first]
        self._blank = tiles.index(0)

    def _walk(self, moves: int) -> None:
        """Make legal moves from the solved board; undoing them solves it."""
        onward, draw, tiles, blank, back = _onward(self.num_rows), self.rng.random, self._tiles, self._blank, ""
        for _ in range(moves):
            ways = onward[blank, back]
            source, back = ways[int(draw() * len(ways))]
            tiles[blank] = tiles[source]
            blank = source
            self._path.append(back)
        tiles[blank] = 0
        self._blank = blank
        if self._tiles == list(solved_board(self.num_rows)):  # it came round in a circle
            self._slide(self._path.pop())

    def _slide(self, way: str) -> int:
        """Slide the tile that can go this way, and return it."""
        blank, source = self._blank, self._slides[self._blank][way]
        tile = self._tiles[source]
        self._tiles[blank], self._tiles[source] = tile, 0
        self._blank = source
        return tile

    def _rules(self) -> str:
        rows = self.num_rows
        return (
            f"Fifteen puzzle with {rows} rows of {rows} cells. {rows * rows - 1} numbered tiles and a blank, drawn as "
            f"{self._labels[0]}, lie in a mixed order. Each turn you slide one tile that is next to the blank into it: "
            "up slides the tile below the blank up, down the tile above it down, left the tile on its right to the "
            "left, right the tile on its left to the right. You win when the tiles stand in order, row by row, with "
            f"the blank in the last cell, within {self.max_turns} turns:\n{self._drawn(list(solved_board(rows)))}\n"
            "The board now:"
        )

    def _how(self) -> str:
        return "Say where a tile slides: \\boxed{up}, \\boxed{down}, \\boxed{left} or \\boxed{right}."

    def _board(self) -> str:
        return self._drawn(self._tiles)

    def _drawn(self, tiles: list[int]) -> str:
        rows = self.num_rows
        cells = [self._labels[tile] for tile in tiles]
        return "\n".join([" ".join(cells[start : start + rows]) for start in range(0, rows * rows, rows)])

    def _read(self, text: str) -> str | None:
        return direction(text)

    def _play(self, move: str) -> str:
        blank = self._blank
        if move not in self._slides[blank]:
            return f"No tile can slide {move}: the blank is at the edge of the board."
        tile = self._slide(move)
        self._away += self._distances[tile][blank] - self._distances[tile][self._blank]
        if self._path:  # it stays a solution: follow it, or first take back what strayed from it
            if move == self._path[-1]:
                self._path.pop()
            else:
                self._path.append(OPPOSITE[move])
                self._searched = False
        if self._away:
            return f"Tile {tile} slid {move}."
        self._won = True
        return f"Tile {tile} slid {move}. All tiles are in order: you win!"

    def _progress(self) -> float:
        return max(0.0, 1.0 - self._away / self._dealt)

    def _ending(self) -> str:
        return self._drawn(self._tiles)

    def sample_random_action(self) -> str:
        """Slide any tile that can slide."""
        ways = tuple(self._slides[self._blank])
        return box(ways[int(self.action_rng.random() * len(ways))])

    def oracle_action(self) -> str | None:
        """Take the next step of a shortest solution, or on larger boards of the one known; None once it is solved.

        Where the play has strayed so far that the known solution of a larger board takes more turns than are left, a
        shorter one is looked for, without certainty.
        """
        if not self._away:
            return None
        left = self.max_turns - self.turn
        if not self._path or (len(self._path) > left and not self._searched):
            self._searched = True
            board, rows = bytes(self._tiles), self.num_rows
            found = shortest_path(board, rows) if rows in _FARTHEST else find_path(board, rows, left)
            self._path = self._path if found is None else found[::-1]
        return box(self._path[-1])


@lru_cache(maxsize=16)
def _onward(rows: int) -> dict[tuple[int, str], tuple[tuple[int, str], ...]]:
    """Return, by the blank's cell and the direction that goes straight back, where else it can go and the way back."""
    return {
        (cell, back): tuple((source, OPPOSITE[way]) for way, source in ways.items() if way != back)
        for cell, ways in enumerate(slides(rows))
        for back in ("", *ways)
    }


@lru_cache(maxsize=16)
def _labels(rows: int) -> tuple[str, ...]:
    """Return how each tile is drawn, the blank first, all equally wide."""
    width = len(str(rows * rows - 1))
    return ("_" * width, *(f"{tile:>{width}}" for tile in range(1, rows * rows)))


def _is_even(tiles: list[int], rows: int) -> bool:
    """Tell whether a board can be solved.

    A move swaps a tile with the blank, which then is one cell farther from or nearer to the last cell. So a board can
    only be solved where the parity of its order is that of the blank's distance, and then it can (Johnson and Story,
    Notes on the "15" puzzle, 1879).
    """
    order = [tile or len(tiles) for tile in tiles]
    swaps = sum(later < tile for cell, tile in enumerate(order) for later in order[cell + 1 :])
    blank = tiles.index(0)
    return (swaps + 2 * (rows - 1) - blank // rows - blank % rows) % 2 == 0
