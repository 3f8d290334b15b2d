"""Tower of Hanoi: move a stack of disks from one peg to another."""

from __future__ import annotations

from typing import Any

from gem_games.base import Game, box, whole_number

__all__ = ["TowerofHanoiEnv"]

_PEGS = "ABC"
_MOST = 20
_BETWEEN = str.maketrans("", "", " ,;()[]->")  # what may stand round and between the names of pegs


class TowerofHanoiEnv(Game[tuple[str, str]]):
    r"""Move all disks from peg A to peg C, one at a time and never a larger one onto a smaller one.

    `n` disks need at least `2**n - 1` moves.

    Progress: the share of those moves that is behind you, `1 - d / (2**n - 1)` where `d` is the number of moves that
    the shortest solution still needs.

    Args:
        num_disks: 1 to 20; None draws 3 to 5 at each reset.
        max_turns: The moves allowed, taken as given; None draws, at each reset, a quarter to a half more than are
            needed.
        scoring: `reward`, `format_error_reward`, `end_on_format_error`: see `Game`.

    Raises:
        ValueError: A parameter is out of bounds.
    """

    num_disks: int

    def __init__(self, num_disks: int | None = 4, max_turns: int | None = 20, **scoring: Any) -> None:
        super().__init__(**scoring)
        num_disks = whole_number("num_disks", num_disks, 1, _MOST)
        self._keep(num_disks=num_disks, max_turns=whole_number("max_turns", max_turns, 1))
        self._deal()

    def _draw(self) -> None:
        if "num_disks" in self._open:
            self.num_disks = self.rng.randint(3, 5)
        if "max_turns" in self._open:
            needed = (1 << self.num_disks) - 1
            self.max_turns = self.rng.randint(needed + needed // 4, needed + needed // 2)

    def _deal(self) -> None:
        self._pegs: list[list[int]] = [list(range(self.num_disks, 0, -1)), [], []]
        self._where = [0] * (self.num_disks + 1)  # the peg that each disk is on
        self._needed = self._left = (1 << self.num_disks) - 1

    def _rules(self) -> str:
        return (
            f"Tower of Hanoi with {self.num_disks} disks, numbered by size: 1 is the smallest. All of them lie on peg "
            "A, each on the next larger one. Each turn you move the top disk of a peg onto another peg; a disk never "
            f"goes onto a smaller one. You win when all disks lie on peg C, within {self.max_turns} moves."
        )

    def _how(self) -> str:
        return (
            "Name the peg you take the top disk from, then the one you put it on: \\boxed{A C} moves the top disk of A "
            "to C."
        )

    def _board(self) -> str:
        return f"{self._drawn()}\nEach peg from bottom to top. All disks must come to peg C."

    def _drawn(self) -> str:
        a, b, c = ["".join([f" {disk}" for disk in peg]) for peg in self._pegs]
        return f"A |{a}\nB |{b}\nC |{c}"

    def _read(self, text: str) -> tuple[str, str] | None:
        if len(text) > 20:  # no way to write two letters is longer
            return None
        names = text.upper().translate(_BETWEEN)
        return (names[0], names[1]) if len(names) == 2 and names.isalpha() else None

    def _play(self, move: tuple[str, str]) -> str:
        source, target = move
        start, end = _PEGS.find(source), _PEGS.find(target)
        if start < 0 or end < 0:
            return f"There is no peg {source if start < 0 else target}: they are A, B and C."
        if start == end:
            return f"The disk must go to another peg than {source}, which it is on."
        origin, goal = self._pegs[start], self._pegs[end]
        if not origin:
            return f"There is no disk on peg {source}."
        disk = origin[-1]
        if goal and goal[-1] < disk:
            return f"Disk {disk} cannot go from {source} to {target}: it is larger than disk {goal[-1]} there."
        goal.append(origin.pop())
        self._where[disk] = end
        self._left, _, _ = self._solution()
        feedback = f"Disk {disk} moved from {source} to {target}."
        if self._left:
            return feedback
        self._won = True
        return f"{feedback} All disks are on peg C: you win!"

    def _solution(self) -> tuple[int, int, int]:
        """Return how many moves the shortest solution has, and the two pegs of its first move.

        A disk that is not where it must go moves there once, when all smaller ones lie on the third peg. From the
        largest disk down this says where each must go, and the smallest that is not there yet moves first (Hinz et al.,
        The Tower of Hanoi: Myths and Maths, chapter 2).
        """
        moves = source = target = 0
        place = 2
        for disk in range(self.num_disks, 0, -1):
            peg = self._where[disk]
            if peg != place:
                moves += 1 << (disk - 1)
                source, target = peg, place
                place = 3 - peg - place
        return moves, source, target

    def _progress(self) -> float:
        return 1.0 - self._left / self._needed

    def _ending(self) -> str:
        return self._drawn()

    def sample_random_action(self) -> str:
        """Make any legal move."""
        a, b, c = [peg[-1] if peg else _MOST + 1 for peg in self._pegs]
        # Of two pegs, the smaller top disk can go to the other; two empty ones have none to move.
        moves = []
        if a != b:
            moves.append("A B" if a < b else "B A")
        if a != c:
            moves.append("A C" if a < c else "C A")
        if b != c:
            moves.append("B C" if b < c else "C B")
        return box(moves[int(self.action_rng.random() * len(moves))])

    def oracle_action(self) -> str | None:
        """Take the next step of the shortest solution from here; None once it is solved."""
        moves, source, target = self._solution()
        return box(f"{_PEGS[source]} {_PEGS[target]}") if moves else None
