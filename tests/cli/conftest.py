"""Fixtures that write a file and read it, or run a command."""

import shlex

import pytest

from coreclust.cli import main
from coreclust.cli.errors import InputError
from coreclust.cli.reading import read_table


@pytest.fixture
def read(tmp_path):
    """Write a file and read it."""

    def write_and_read(content, name="data.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, **options)

    return write_and_read


@pytest.fixture
def error(read):
    def message(content, name="data.csv", **options):
        with pytest.raises(InputError) as caught:
            read(content, name, **options)
        text = str(caught.value)
        assert "\n" not in text
        assert text.rstrip("?)").endswith((".", "open", "out", "formats]'")) or text[-1] in ".?"
        return text

    return message


@pytest.fixture
def run_command(capsys):
    """Run a command in this process, which is quicker, and return code, output and error."""

    def run_here(text):
        try:
            code = main(shlex.split(text))
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_here
