"""The program ``coreclust``, also run by ``python -m coreclust``."""

import sys


def main() -> int:
    """Run the command line; a Ctrl-C is one line, even while the commands are imported."""
    try:
        from coreclust.cli import main as run

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("\ncoreclust: Interrupted.\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
