"""What gem-games registers with GEM."""

from __future__ import annotations

from typing import Any

from gem import hookimpl

gem_api = 1


@hookimpl
def gem_register_envs(register: Any) -> None:
    """Register every game; a variant is a set of parameters, and None among them is drawn at each reset."""

    def game(name: str, target: str, description: str, *, luck: bool = False, **variants: dict[str, Any]) -> None:
        for variant, parameters in variants.items():
            suffix = "" if variant == "standard" else f"-{variant.replace('_', '-')}"
            register(
                f"game:{name}-v0{suffix}",
                f"gem_games.{target}",
                description=description,
                # Where tiles fall as they please, any play may lose some games.
                tags=("game", "text", "multi-turn", variant.replace("_", "-"), *(("luck",) if luck else ())),
                # A malformed reply before any progress is the worst; a solve returns 1.
                reward_range=(-0.1, 1.0),
                kwargs=parameters,
            )

    def duel(name: str, description: str, stake: float = 1.0, **variants: dict[str, Any]) -> None:
        for variant, parameters in variants.items():
            register(
                f"duel:{name}-v0" if variant == "standard" else f"duel:{name}-v0-{variant}",
                "gem_games.duel.versus:versus",
                description=description,
                # Where cards are dealt, the best play loses some games.
                tags=("duel", "text", "multi-turn", variant, *(("luck",) if name == "KuhnPoker" else ())),
                reward_range=(-stake, stake),
                kwargs={"game": name, "agent": None, **parameters},
            )

    game(
        "GuessTheNumber",
        "guess_the_number:GuessTheNumberEnv",
        "Find a hidden number by asking whether it is higher or lower.",
        standard={"min_number": 1, "max_number": 20, "max_turns": 10},
        easy={"min_number": 1, "max_number": 10, "max_turns": 4},
        hard={"min_number": 1, "max_number": 50, "max_turns": 7},
        random={"min_number": None, "max_number": None, "max_turns": None},
    )
    game(
        "Minesweeper",
        "minesweeper:MinesweeperEnv",
        "Open every cell of a board that hides no mine.",
        standard={"rows": 8, "cols": 8, "num_mines": 10, "max_turns": 100},
        easy={"rows": 5, "cols": 5, "num_mines": 5, "max_turns": 25},
        hard={"rows": 8, "cols": 8, "num_mines": 12, "max_turns": 64},
        random={"rows": None, "cols": None, "num_mines": None, "max_turns": None},
    )
    game(
        "Mastermind",
        "mastermind:MastermindEnv",
        "Find a hidden code from black and white pegs.",
        standard={"code_length": 4, "num_numbers": 6, "max_turns": 20, "duplicate_numbers": False},
        easy={"code_length": 2, "num_numbers": 6, "max_turns": 10, "duplicate_numbers": False},
        hard={"code_length": 4, "num_numbers": 8, "max_turns": 30, "duplicate_numbers": False},
        random={"code_length": None, "num_numbers": None, "max_turns": None, "duplicate_numbers": False},
    )
    game(
        "Wordle",
        "wordle:WordleEnv",
        "Find a hidden word from marked letters.",
        standard={"word_length": 5, "only_real_words": True, "max_turns": 15},
        easy={"word_length": 3, "only_real_words": True, "max_turns": 15},
        hard={"word_length": 5, "only_real_words": True, "max_turns": 6},
        random={"word_length": None, "only_real_words": True, "max_turns": None},
    )
    game(
        "Hangman",
        "hangman:HangmanEnv",
        "Uncover a hidden word letter by letter.",
        standard={"word_length": 5, "hardcore": False, "max_turns": 15},
        easy={"word_length": 3, "hardcore": False, "max_turns": 10},
        hard={"word_length": 7, "hardcore": False, "max_turns": 20},
        random={"word_length": None, "hardcore": False, "max_turns": None},
    )
    game(
        "Sokoban",
        "sokoban:SokobanEnv",
        "Push all boxes of a walled room onto goals.",
        standard={"dim_room": (7, 7), "num_boxes": 3, "max_turns": 35},
        easy={"dim_room": (6, 6), "num_boxes": 2, "max_turns": 20},
        hard={"dim_room": (8, 8), "num_boxes": 4, "max_turns": 50},
        random={"dim_room": None, "num_boxes": None, "max_turns": None},
    )
    game(
        "FifteenPuzzle",
        "fifteen_puzzle:FifteenPuzzleEnv",
        "Slide numbered tiles into order.",
        standard={"num_rows": 3, "max_turns": 40},
        easy={"num_rows": 2, "max_turns": 10},
        hard={"num_rows": 4, "max_turns": 50},
        random={"num_rows": None, "max_turns": None},
    )
    game(
        "TowerofHanoi",
        "towers_of_hanoi:TowerofHanoiEnv",
        "Move a stack of disks to another peg, never a larger disk onto a smaller one.",
        standard={"num_disks": 4, "max_turns": 20},
        easy={"num_disks": 3, "max_turns": 10},
        hard={"num_disks": 5, "max_turns": 35},
        random={"num_disks": None, "max_turns": None},
    )
    game(
        "Game2048",
        "game_2048:Game2048Env",
        "Slide and join numbered tiles until one shows the target.",
        luck=True,
        standard={"target_tile": 256, "max_turns": 200},
        easy={"target_tile": 64, "max_turns": 50},
        hard={"target_tile": 512, "max_turns": 350},
        extreme_hard={"target_tile": 2048, "max_turns": 1500},
        random={"target_tile": None, "max_turns": None},
    )
    game(
        "Sudoku",
        "sudoku:SudokuEnv",
        "Fill a board so that no digit repeats in a row, column or box.",
        standard={"scale": 9, "clues": 36, "max_turns": 60},
        easy={"scale": 4, "clues": 7, "max_turns": 15},
        hard={"scale": 9, "clues": 30, "max_turns": 60},
        random={"scale": None, "clues": None, "max_turns": None},
    )
    game(
        "WordSearch",
        "word_search:WordSearchEnv",
        "Find words in a square of letters.",
        standard={"num_words": 5, "hardcore": False, "max_turns": 20},
        easy={"num_words": 5, "hardcore": False, "max_turns": 20},
        hard={"num_words": 5, "hardcore": True, "max_turns": 20},
        random={"num_words": None, "hardcore": None, "max_turns": None},
    )
    game(
        "Crosswords",
        "crosswords:CrosswordsEnv",
        "Fill a crossword letter by letter from its clues.",
        standard={"num_words": 3, "hardcore": False, "max_turns": 30},
        easy={"num_words": 3, "hardcore": False, "max_turns": 30},
        hard={"num_words": 3, "hardcore": True, "max_turns": 40},
        random={"num_words": None, "hardcore": None, "max_turns": None},
    )
    duel(
        "TicTacToe",
        "Have three in a row before the other player.",
        standard={"opponent": "random", "goal": "win"},
        minimax={"opponent": "minimax", "goal": "draw"},  # nobody wins against it
    )
    duel(
        "NestedTicTacToe",
        "Win three boards in a row on a board of nine tic-tac-toe boards.",
        standard={"opponent": "random", "goal": "win"},
        minimax={"opponent": "minimax", "goal": "win"},
    )
    duel(
        "ConnectFour",
        "Have four in a row before the other player.",
        standard={"opponent": "random", "goal": "win"},
        minimax={"opponent": "minimax", "goal": "win"},
    )
    duel(
        "KuhnPoker",
        "Bet on the higher of two cards, knowing only one's own.",
        stake=2.0,
        standard={"opponent": "equilibrium", "goal": "win"},
        random={"opponent": "random", "goal": "win"},
    )
