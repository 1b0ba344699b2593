"""The command that prints a script for the shell, so that Tab completes commands and options."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import dataclass
from typing import Any

SHELLS = ("bash", "zsh", "fish")
_EXAMPLES = """\
examples:
  eval "$(coreclust completion bash)"                 # in ~/.bashrc
  coreclust completion zsh > ~/.zfunc/_coreclust      # in a folder of $fpath
  coreclust completion fish > ~/.config/fish/completions/coreclust.fish
"""


@dataclass(frozen=True)
class Option:
    """What the shell has to know of an option."""

    flags: tuple[str, ...]
    choices: tuple[str, ...]
    takes_value: bool
    takes_path: bool
    help: str


@dataclass(frozen=True)
class Command:
    """What the shell has to know of a command."""

    name: str
    help: str
    options: tuple[Option, ...]
    takes_path: bool
    choices: tuple[str, ...]


def add(commands: Any) -> None:
    """Add the command."""
    completion = commands.add_parser(
        "completion",
        help="completion of commands and options by the shell",
        description="Print a script that lets the Tab key complete commands, options and values.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    completion.add_argument("shell", choices=SHELLS, help="the shell to print it for")
    completion.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from coreclust.cli.main import make_parser

    commands = commands_of(make_parser())
    make = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}[arguments.shell]
    print(make(commands), end="")


def commands_of(parser: argparse.ArgumentParser) -> list[Command]:
    """Return what there is to complete, from the parser itself."""
    (subparsers,) = [
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    ]
    helps = {action.dest: action.help or "" for action in subparsers._choices_actions}
    commands = []
    for name, command in subparsers.choices.items():
        options, places = [], []
        for action in command._actions:
            choices = tuple(map(str, action.choices or ()))
            if not action.option_strings:
                places.append(action)
                continue
            options.append(
                Option(
                    tuple(action.option_strings),
                    choices,
                    takes_value=action.nargs != 0,
                    takes_path=action.metavar in ("DIR", "FILE"),
                    help=_first_part(action.help),
                )
            )
        commands.append(
            Command(
                name,
                helps[name],
                tuple(options),
                takes_path=any(place.metavar == "FILE" for place in places),
                choices=tuple(str(c) for place in places for c in place.choices or ()),
            )
        )
    return commands


def bash_script(commands: list[Command]) -> str:
    """Return the script for bash.

    It uses nothing but what bash itself has: compgen and the words of the line.
    """
    cases, values = [], []
    for command in commands:
        flags = [flag for option in command.options for flag in option.flags]
        cases.append(f"    {command.name}) words={shlex.quote(' '.join(flags))} ;;")
        for option in command.options:
            pattern = "|".join(f"{command.name}:{flag}" for flag in option.flags)
            if option.choices:
                words = shlex.quote(" ".join(option.choices))
                values.append(f'    {pattern}) COMPREPLY=($(compgen -W {words} -- "$here")) ;;')
            elif option.takes_path:
                values.append(f'    {pattern}) _coreclust_files "$here" ;;')
            elif option.takes_value:
                values.append(f"    {pattern}) COMPREPLY=() ;;")
        if command.choices:
            words = shlex.quote(" ".join(command.choices))
            values.append(f'    {command.name}:*) COMPREPLY=($(compgen -W {words} -- "$here")) ;;')
    names = shlex.quote(" ".join(command.name for command in commands))
    lines = [
        "# Completion of coreclust for bash, made by: coreclust completion bash",
        # Names of files are cut at the ends of lines only: they may hold blanks.
        "_coreclust_files() { local IFS=$'\\n'; COMPREPLY=($(compgen -f -- \"$1\")); }",
        "_coreclust() {",
        '  local here="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
        '  local command="${COMP_WORDS[1]}" words=""',
        "  local IFS=$' \\t\\n'",
        '  if [ "$COMP_CWORD" -eq 1 ]; then',
        f'    COMPREPLY=($(compgen -W {names}" --help --version" -- "$here")); return',
        "  fi",
        '  case "$command" in',
        *cases,
        "  esac",
        '  if [[ "$here" == -* ]]; then',
        '    COMPREPLY=($(compgen -W "$words" -- "$here")); return',
        "  fi",
        '  case "$command:$before" in',
        *values,
        '    *) _coreclust_files "$here" ;;',
        "  esac",
        "}",
        "complete -o filenames -F _coreclust coreclust",
    ]
    return "\n".join(lines) + "\n"


def zsh_script(commands: list[Command]) -> str:
    """Return the script for zsh."""
    lines = [
        "#compdef coreclust",
        "# Completion of coreclust for zsh, made by: coreclust completion zsh",
        "_coreclust() {",
        "  local -a commands",
        "  commands=(",
        *(f"    {_single(f'{command.name}:{_plain(command.help)}')}" for command in commands),
        "  )",
        "  if (( CURRENT == 2 )); then",
        "    _describe command commands; return",
        "  fi",
        '  local command="$words[2]"',
        "  shift words; (( CURRENT-- ))",
        '  case "$command" in',
    ]
    for command in commands:
        lines.append(f"    {command.name})")
        lines.append("      _arguments \\")
        for option in command.options:
            group = f"({' '.join(option.flags)})" if len(option.flags) > 1 else ""
            for flag in option.flags:
                text = f"{group}{flag}[{_plain(option.help)}]" + _zsh_value(option)
                lines.append(f"        {_single(text)} \\")
        place = f"*:value:({' '.join(command.choices)})" if command.choices else "*:file:_files"
        lines += [f"        {_single(place)}", "      ;;"]
    lines += ["  esac", "}", 'if [ "$funcstack[1]" = "_coreclust" ]; then', '  _coreclust "$@"']
    lines += ["else", "  compdef _coreclust coreclust", "fi"]
    return "\n".join(lines) + "\n"


def fish_script(commands: list[Command]) -> str:
    """Return the script for fish."""
    lines = ["# Completion of coreclust for fish, made by: coreclust completion fish"]
    names = " ".join(command.name for command in commands)
    lines += [
        f"complete -c coreclust -f -n 'not __fish_seen_subcommand_from {names}' "
        f"-a {command.name} -d {_single(_plain(command.help))}"
        for command in commands
    ]
    for command in commands:
        seen = f"complete -c coreclust -n '__fish_seen_subcommand_from {command.name}'"
        if command.choices:
            lines.append(f"{seen} -f -a {_single(' '.join(command.choices))}")
        for option in command.options:
            text = "".join(
                f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}"
                for flag in option.flags
            )
            if option.choices:
                text += f" -x -a {_single(' '.join(option.choices))}"
            elif option.takes_path:
                text += " -r -F"
            elif option.takes_value:
                text += " -x"
            lines.append(f"{seen}{text} -d {_single(_plain(option.help))}")
    return "\n".join(lines) + "\n"


def _zsh_value(option: Option) -> str:
    if option.choices:
        return f":value:({' '.join(option.choices)})"
    if option.takes_path:
        return ":file:_files"
    return ":value: " if option.takes_value else ""


def _first_part(text: str | None) -> str:
    """Return the help of an option up to its first semicolon: a line in a menu."""
    first = (text or "").split(";")[0].strip()
    return "" if first.startswith("default:") else first


def _plain(text: str) -> str:
    """Leave out what has a meaning to zsh inside a description."""
    return text.replace("[", "(").replace("]", ")").replace(":", "").replace("`", "")


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
