"""`python -m simulate`: as `snatch simulate`, on a stack that runs already."""

import sys

from simulate.cli import main

sys.exit(main(sys.argv[1:]))
