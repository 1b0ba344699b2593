"""Run the command line with ``python -m coreclust``."""

import sys

from coreclust.cli import main

sys.exit(main())
