"""The command line. Heavy modules are imported by the commands that need them."""

from coreclust.cli.main import main

__all__ = ["main"]
