"""`python -m robomarl`: the command line, where no script `robomarl` is on the path."""

import sys

from robomarl.front.cli import main

sys.exit(main())
