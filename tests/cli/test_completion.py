"""Completion, tested by the shells themselves."""

import shutil
import subprocess

import pytest
import shtab

from coreclust.cli.completion import SHELLS, completion_script, subcommands
from coreclust.cli.main import make_parser


@pytest.fixture(scope="module")
def bash():
    return completion_script(make_parser(), "bash")


def complete(script, words, cwd):
    """Return what bash offers for the last word."""
    line = " ".join(f"'{word}'" for word in words)
    ask = (
        f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
        '_shtab_coreclust coreclust "${COMP_WORDS[COMP_CWORD]}"; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\n{ask}"], capture_output=True, text=True, cwd=cwd
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["coreclust", "f"], ["fit"]),
        (["coreclust", "co"], ["compare", "completion"]),
        (["coreclust", "fit", "--al"], ["--algorithm", "--alpha"]),
        (["coreclust", "fit", "--algorithm", "t"], ["tkmeans", "tclust"]),
        (["coreclust", "select", "--algorithm", "r"], [""]),
        (["coreclust", "select", "--null", ""], ["uniform", "permuted"]),
        (["coreclust", "fit", "my"], ["my data.csv"]),
        (["coreclust", "fit", "my data.csv", "--out", "re"], ["results"]),
        (["coreclust", "fit", "my data.csv", "-k", ""], [""]),
        (["coreclust", "fit", "my data.csv", "--noise", "a"], ["apart", "absent"]),
        (["coreclust", "completion", ""], list(SHELLS)),
    ],
)
def test_bash_completes(words, expected, bash, tmp_path):
    (tmp_path / "my data.csv").write_text("x\n1\n")
    (tmp_path / "results").mkdir()
    assert complete(bash, words, tmp_path) == expected


def flags_of(command):
    return {flag for action in command._actions for flag in action.option_strings}


def test_bash_knows_every_option_of_every_command(bash, tmp_path):
    for name, command in subcommands(make_parser()).items():
        assert set(complete(bash, ["coreclust", name, "-"], tmp_path)) == flags_of(command)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_is_told_of_every_option(shell):
    script = completion_script(make_parser(), shell)
    for name, command in subcommands(make_parser()).items():
        assert name in script
        for flag in flags_of(command):
            assert (f" {flag.lstrip('-')} " if shell == "fish" else flag.lstrip("-")) in script


def test_the_shells_are_those_of_shtab():
    assert set(SHELLS) == set(shtab.SUPPORTED_SHELLS)


def only_with(shell):
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@pytest.mark.parametrize(
    "shell", [pytest.param(shell, marks=only_with(shell)) for shell in ("bash", "zsh", "fish")]
)
def test_the_scripts_have_no_syntax_errors(shell):
    script = completion_script(make_parser(), shell)
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
