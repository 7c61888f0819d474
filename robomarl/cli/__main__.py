"""`python -m robomarl.cli`."""

import sys

from robomarl.cli import main

sys.exit(main())
