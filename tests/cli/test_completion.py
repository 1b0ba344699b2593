"""Completion, by the shell itself."""

import shutil
import subprocess

import pytest

from coreclust.cli.completion import bash_script, commands_of, fish_script, zsh_script
from coreclust.cli.main import make_parser


@pytest.fixture(scope="module")
def bash():
    return bash_script(commands_of(make_parser()))


def complete(script, words, cwd):
    """Ask bash what may follow."""
    line = " ".join(f"'{word}'" for word in words)
    ask = (
        f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _coreclust; "
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
        (["coreclust", "select", "--reference", ""], ["uniform", "permuted"]),
        (["coreclust", "fit", "my"], ["my data.csv"]),
        (["coreclust", "fit", "my data.csv", "--out", "re"], ["results"]),
        (["coreclust", "fit", "my data.csv", "-k", ""], [""]),
        (["coreclust", "completion", ""], ["bash", "zsh", "fish"]),
        (["coreclust", "reproduce", "--table", ""], ["1", "2", "3", "4", "5"]),
    ],
)
def test_bash_completes(words, expected, bash, tmp_path):
    (tmp_path / "my data.csv").write_text("x\n1\n")
    (tmp_path / "results").mkdir()
    assert complete(bash, words, tmp_path) == expected


def test_bash_knows_every_option_of_every_command(bash, tmp_path):
    for command in commands_of(make_parser()):
        expected = {flag for option in command.options for flag in option.flags}
        assert set(complete(bash, ["coreclust", command.name, "-"], tmp_path)) == expected


@pytest.mark.parametrize("make", [zsh_script, fish_script])
def test_other_shells_are_told_of_every_option(make):
    commands = commands_of(make_parser())
    script = make(commands)
    for command in commands:
        assert command.name in script
        for option in command.options:
            for flag in option.flags:
                assert (flag if make is zsh_script else f" {flag.lstrip('-')}") in script


def only_with(shell):
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@pytest.mark.parametrize(
    ("shell", "make"),
    [
        ("bash", bash_script),
        pytest.param("zsh", zsh_script, marks=only_with("zsh")),
        pytest.param("fish", fish_script, marks=only_with("fish")),
    ],
)
def test_the_scripts_are_scripts(shell, make):
    script = make(commands_of(make_parser()))
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
