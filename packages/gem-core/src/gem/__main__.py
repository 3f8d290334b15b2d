"""`python -m gem`: what is registered, which plugins there are, whether an environment keeps the contract; play one.

What is asked for goes to the standard output, everything else to standard error, so that `--json` can be piped.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn, TextIO

from gem import __version__
from gem.errors import GemError, PluginWarning
from gem.ids import did_you_mean


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: Arguments without the program's name; None takes those of the process.

    Returns:
        The exit code: 0, 1 where something failed, 2 for a command line that makes no sense, 130 after Ctrl-C.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - as long as the process lives
    out = sys.stdout
    if hasattr(out, "reconfigure"):
        out.reconfigure(errors="backslashreplace")  # a terminal that cannot show a letter must not end the command
    arguments = _parse(list(sys.argv[1:] if argv is None else argv))
    usual, warnings.formatwarning = warnings.formatwarning, _format_warning
    try:
        with contextlib.redirect_stdout(sys.stderr):  # whatever a plugin prints must not stand in the JSON
            code = int(arguments.run(arguments, out))
        out.flush()
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped.\n")
        return 130
    except BrokenPipeError:  # `| head`: nobody reads on; what is left in the buffer must not raise at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (GemError, PluginWarning, TypeError, ValueError) as error:
        if arguments.verbose:
            traceback.print_exc()
        sys.stderr.write(f"error: {error}\n")
        return 1
    finally:
        warnings.formatwarning = usual
    return code


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)
        # Without a default of its own, the flag after a command does not undo the one before it.
        self.add_argument(
            "-v", "--verbose", action="store_true", default=argparse.SUPPRESS, help="show more, tracebacks too"
        )


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = _Parser(prog="python -m gem", description="GEM, a gym for LLM agents.")
    parser.add_argument("--version", action="version", version=f"gem-core {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    envs = commands.add_parser("envs", help="list environments; imports none of them")
    envs.set_defaults(run=_envs)
    tools = commands.add_parser("tools", help="list tools, wrappers, sandboxes and components")
    tools.set_defaults(run=_tools)
    plugins = commands.add_parser("plugins", help="list plugins: what they registered, or why they failed")
    plugins.set_defaults(run=_plugins)
    for command in (envs, tools, plugins):
        command.add_argument("--json", action="store_true", help="as JSON on the standard output")
    for command in (envs, tools):
        command.add_argument("pattern", metavar="PATTERN", nargs="?", help="shell pattern, or a part of the name")

    check = commands.add_parser("check", help="check environments against the contract")
    check.set_defaults(run=_check)
    check.add_argument("ids", metavar="ID", nargs="+", help="an id, or a pattern such as 'game:*'")
    check.add_argument("--seeds", type=int, default=5, metavar="N", help="seeds per environment (default: 5)")

    play = commands.add_parser("play", help="play an environment in the terminal")
    play.set_defaults(run=_play)
    play.add_argument("id", metavar="ID", help="an id, as `python -m gem envs` lists them")
    play.add_argument("--seed", type=int, metavar="N", help="which episode (default: a new one)")
    play.add_argument("--wrappers", default="", metavar="NAMES", help="comma-separated, innermost first")

    names = commands.choices
    given = next((word for word in argv if not word.startswith("-")), None)
    if given is not None and given not in names:
        parser.error(f"there is no command {given!r}.{did_you_mean(given, names)}")
    arguments, unknown = parser.parse_known_args(argv)
    if arguments.command is None:
        if unknown and not any(unknown[0] in _flags(command) for command in names.values()):
            _refuse(parser, unknown[0])
        parser.print_help(sys.stderr)
        sys.exit(2)
    if unknown:
        _refuse(names[arguments.command], unknown[0])
    arguments.verbose = getattr(arguments, "verbose", False)
    return arguments


def _refuse(parser: argparse.ArgumentParser, word: str) -> NoReturn:
    if not word.startswith("-"):
        parser.error(f"there is one argument too many: {word!r}.")
    flags = _flags(parser)
    if word.partition("=")[0] in flags:
        parser.error(f"{word} belongs behind the command: {parser.prog} {word}.")
    parser.error(f"there is no option {word}.{did_you_mean(word, flags)}")


def _flags(parser: argparse.ArgumentParser) -> list[str]:
    return [flag for action in parser._actions for flag in action.option_strings]


def _envs(arguments: argparse.Namespace, out: TextIO) -> int:
    from gem.lookup import describe_envs

    entries = describe_envs(arguments.pattern)
    if arguments.json:
        _write_json(entries, out)
    else:
        rows = [[entry["id"], entry["description"]] for entry in entries]
        if arguments.verbose:
            rows = [[entry["id"], entry["origin"], ",".join(entry["tags"]), entry["description"]] for entry in entries]
        _write_table(rows, out)
    _say_count(len(entries), "environment", arguments.pattern)
    return 0


def _tools(arguments: argparse.Namespace, out: TextIO) -> int:
    from gem.lookup import matches
    from gem.plugins import catalog, ensure_loaded

    ensure_loaded()
    registries = (catalog.tools, catalog.wrappers, catalog.sandboxes, catalog.components)
    entries = [
        {"kind": spec.noun, "name": spec.key, "description": spec.description, "origin": spec.origin}
        for registry in registries
        for spec in registry
        if matches(spec.key, arguments.pattern)
    ]
    if arguments.json:
        _write_json(entries, out)
    else:
        _write_table([[entry["kind"], entry["name"], entry["origin"], entry["description"]] for entry in entries], out)
    _say_count(len(entries), "line", arguments.pattern)
    return 0


def _plugins(arguments: argparse.Namespace, out: TextIO) -> int:
    from gem.discovery import owners_of
    from gem.plugins import reports

    found = reports()
    owners = owners_of("gem")
    if len(owners) == 1 and not owners[0].startswith("gem-core "):
        owners.insert(0, f"gem-core {__version__}")  # an editable install records no files
    if arguments.json:
        plugins = [dict(vars(report), registered=dict(report.registered), keys=list(report.keys)) for report in found]
        _write_json({"plugins": plugins, "owners_of_gem": owners}, out)
    else:
        rows = [[r.name, f"{r.distribution} {r.version}".strip(), r.status, r.cause or r.summary()] for r in found]
        _write_table(rows, out)
        for report in found if arguments.verbose else ():
            if report.traceback:
                out.write(f"\n{report}\n{report.traceback}")
    if len(owners) > 1:
        message = (
            f"{' and '.join(owners)} both own the package gem: each overwrites and uninstalls files of the other. "
            "Uninstall all of them, then install gem-core again."
        )
        (sys.stderr if arguments.json else out).write(f"\nwarning: {message}\n")
    return 0


def _check(arguments: argparse.Namespace, out: TextIO) -> int:
    from gem.errors import ContractError
    from gem.lookup import env_ids
    from gem.testing import check_env

    ids: list[str] = []
    for wanted in arguments.ids:
        found = env_ids(wanted) if any(c in wanted for c in "*?[") else [wanted]
        if not found:
            raise ValueError(f"No environment matches {wanted!r}; `python -m gem envs` lists all.")
        ids += [id for id in found if id not in ids]
    failed = 0
    for id in ids:
        try:
            report = check_env(id, seeds=arguments.seeds)
        except Exception as error:  # one that raises is one that fails; the others are checked all the same
            failed += 1
            kind = "" if isinstance(error, ContractError) else f"{type(error).__name__}: "
            out.write(f"FAILED  {id}  {kind}{error}\n")
            if arguments.verbose:
                traceback.print_exc()
        else:
            out.write(f"ok      {id}\n")
            if arguments.verbose:
                out.write(f"{report}\n")
        out.flush()
    sys.stderr.write(f"{len(ids)} checked, {failed} failed.\n")
    return 1 if failed else 0


def _play(arguments: argparse.Namespace, out: TextIO) -> int:
    from gem.factory import make
    from gem.play import play

    with make(arguments.id, wrappers=arguments.wrappers) as env, contextlib.redirect_stdout(out):
        try:
            play(env, out, seed=arguments.seed)
        except EOFError:
            out.write("\nLeft.\n")
    return 0


def _write_json(value: Any, out: TextIO) -> None:
    import json

    out.write(json.dumps(value, indent=2, allow_nan=False, default=str) + "\n")


def _write_table(rows: list[list[str]], out: TextIO) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        out.write("  ".join(cells).rstrip() + "\n")


def _say_count(count: int, noun: str, pattern: str | None) -> None:
    which = f" matching {pattern!r}" if pattern else ""
    sys.stderr.write(f"{count or 'no'} {noun}{'' if count == 1 else 's'}{which}\n")


def _format_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> str:
    if issubclass(category, PluginWarning):
        return f"warning: {message}\n"
    return f"{category.__name__}: {message}\n"


if __name__ == "__main__":
    sys.exit(main())
