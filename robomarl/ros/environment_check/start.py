"""`python -m robomarl.ros.environment_check.start MODULE ...`: run a node if its ROS can be loaded.

A node's module imports ROS. If RMW_IMPLEMENTATION names a middleware that ROS does not have, ROS
ends the process with status 102 on import. So everything that starts nodes without `robomarl up`
checks the environment first.
"""

import importlib
import sys

from robomarl.core.config import UserError
from robomarl.ros.environment_check.check import check_environment


def main() -> int:
    """Become the node of the module that is named first; returns the exit status."""
    module = sys.argv.pop(1)
    try:
        check_environment()
    except UserError as error:
        print(f"{module.rpartition('.')[2]}: {error}", file=sys.stderr)
        return 1
    return importlib.import_module(module).main()


if __name__ == "__main__":
    sys.exit(main())
