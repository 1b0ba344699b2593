"""The command that prints a completion script for the shell."""

from __future__ import annotations

import argparse
from typing import Any

# Those of shtab, which is imported only when a script is made; a test keeps them in step.
SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")
_EXAMPLES = """\
examples:
  eval "$(coreclust completion bash)"                 # in ~/.bashrc
  coreclust completion zsh > ~/.zfunc/_coreclust      # in a folder of $fpath
  coreclust completion fish > ~/.config/fish/completions/coreclust.fish
"""


def add(commands: Any) -> None:
    """Add the command."""
    completion = commands.add_parser(
        "completion",
        help="print a completion script for the shell",
        description="Print a script with which the Tab key completes commands, options and values.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    completion.add_argument("shell", choices=SHELLS, help="the shell that reads the script")
    completion.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    print(completion_script(arguments.parser, arguments.shell))


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script for a shell; arguments with the metavar FILE or DIR complete paths."""
    import shtab

    paths = {"FILE": shtab.FILE, "DIR": shtab.DIRECTORY}
    for command in subcommands(parser).values():
        for action in command._actions:
            if action.metavar in paths:
                action.complete = paths[action.metavar]  # type: ignore[attr-defined]
    return shtab.complete(parser, shell)


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}
