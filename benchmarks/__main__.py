"""`python -m benchmarks`."""

import sys

from benchmarks.cli import main

try:
    sys.exit(main(sys.argv[1:]))
except KeyboardInterrupt:
    sys.exit("✗ interrupted: parts that were done are kept")
