"""All games in one vector environment, played by an agent that guesses and one that knows.

Every row of the final table is one environment and one agent. The random agent only knows the format of an action; the
oracle sees the hidden state, so it shows that every task can be solved within its limits.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import gem

AGENTS = ("random", "oracle")
MAX_COPIES = 4  # environments per row, which play side by side


@dataclass
class Row:
    """What one agent did in one environment."""

    env_id: str
    agent: str
    left: dict[int, int] = field(default_factory=dict)  # episodes still to play, by place in the vector
    episodes: int = 0
    solved: int = 0
    total_return: float = 0.0
    steps: int = 0
    seconds: float = 0.0

    def play(self, vector: gem.VectorEnv) -> None:
        """Take one step in all environments of the row that still have episodes to play."""
        indices = list(self.left)
        begun = time.perf_counter()
        choose = vector.oracle_actions if self.agent == "oracle" else vector.sample_random_actions
        vector.step(dict(zip(indices, choose(indices), strict=True)))
        self.seconds += time.perf_counter() - begun
        self.steps += len(indices)


class Scores:
    """A monitor: the vector environment tells it of the end of every episode."""

    def __init__(self, row_of: dict[int, Row]) -> None:
        """Keep which row each environment of the vector belongs to."""
        self.row_of = row_of
        self.finished = 0

    def on_episode_end(self, index: int, env_id: str, episode_return: float, length: int, info: dict[str, Any]) -> None:
        """Count an episode; `info` is its last."""
        row = self.row_of[index]
        row.episodes += 1
        row.solved += bool(info.get("success"))
        row.total_return += episode_return
        row.left[index] -= 1
        if not row.left[index]:
            del row.left[index]
        self.finished += 1


class Progress:
    """Says how far the demo is: in place on a terminal, else in a line now and then."""

    def __init__(self, episodes: int) -> None:
        """Start the clock."""
        self.episodes, self.live = episodes, sys.stdout.isatty()
        self.begun = self.shown_at = time.perf_counter()
        self.shown = 0

    def show(self, finished: int, steps: int) -> None:
        """Show it, if there is news."""
        now = time.perf_counter()
        pause = now - self.shown_at
        due = pause > 0.1 if self.live else finished >= self.shown + self.episodes / 10 or pause > 5
        at_end = finished == self.episodes > self.shown  # once
        if not (due or at_end):
            return
        self.shown, self.shown_at = finished, now
        done = 30 * finished // self.episodes
        text = f"[{'#' * done}{'.' * (30 - done)}] {finished:>3}/{self.episodes} episodes, {steps:>6,} steps"
        text += f", {now - self.begun:5.1f} s"
        print(f"\r{text}" if self.live else text, end="\n" if at_end or not self.live else "", flush=True)


def make_rows(env_ids: list[str], episodes: int) -> list[Row]:
    """Deal the episodes out to all environments and agents, and give each row its places in the vector."""
    rows = [Row(env_id, agent) for env_id in env_ids for agent in AGENTS]
    copies = max(1, min(MAX_COPIES, episodes // len(rows)))
    for episode in range(episodes):
        number, turn = episode % len(rows), episode // len(rows)
        place = number * copies + turn % copies
        rows[number].left[place] = rows[number].left.get(place, 0) + 1
    return rows


def play(env_ids: list[str], episodes: int, seed: int) -> list[Row]:
    """Play the episodes in one vector environment and return what came of them."""
    rows = [row for row in make_rows(env_ids, episodes) if row.left]
    row_of = {place: row for row in rows for place in row.left}
    scores, progress = Scores(row_of), Progress(episodes)
    ids = [row_of[place].env_id for place in sorted(row_of)]
    with gem.make_vec(ids, seed=seed, monitors=[scores]) as vector:
        print(f"{len(ids)} environments in one vector, {len(set(ids))} ids, {episodes} episodes\n")
        vector.reset()
        while scores.finished < episodes:
            for row in rows:
                if row.left:
                    row.play(vector)
                    progress.show(scores.finished, sum(row.steps for row in rows))
    return rows


def print_table(rows: list[Row]) -> None:
    """Print a line per environment and agent."""
    width = max(len(row.env_id) for row in rows)
    print(f"\n{'env':<{width}}  agent   episodes  success  mean return    steps/s")
    for row in rows:
        success, mean = row.solved / row.episodes, row.total_return / row.episodes
        rate = row.steps / row.seconds
        print(f"{row.env_id:<{width}}  {row.agent}  {row.episodes:>8}  {success:>7.0%}  {mean:>11.3f}  {rate:>9,.0f}")


def main() -> int:
    """Play all games with a random and an oracle agent, and end with a table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--envs", default="game:*-v0", help="which environments: a shell pattern")
    options = parser.parse_args()
    env_ids = gem.list_envs(options.envs)
    if not env_ids:
        parser.error(f"no environment matches {options.envs!r}; the games come with: pip install gem-games")
    rows = play(env_ids, max(1, options.episodes), options.seed)
    print_table(rows)
    oracle = [row for row in rows if row.agent == "oracle"]
    solved, played = sum(row.solved for row in oracle), sum(row.episodes for row in oracle)
    print(f"\nThe oracle solved {solved} of {played} episodes.")
    return 0 if solved == played else 1


if __name__ == "__main__":
    sys.exit(main())
