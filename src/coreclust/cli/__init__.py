"""The command line.

The package is an application: only `main` is public, so its modules need no underscore. The
commands import heavy modules when they run.
"""

from coreclust.cli.main import main

__all__ = ["main"]
