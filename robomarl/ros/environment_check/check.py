"""`check_environment`: every variable that ROS and its middleware read, before the first node is made. No ROS here.

ROS answers a wrong value with a line of its own and exit status 102, with an exception, or not at all: it then starts
in another domain, without security, or without the profile of the network.
"""

import os
from collections.abc import Mapping

from robomarl.core.config import UserError
from robomarl.ros.environment_check.files import file_problems
from robomarl.ros.environment_check.installed import installed_problems
from robomarl.ros.environment_check.values import value_problems


def check_environment(environment: Mapping[str, str] = os.environ) -> None:
    """Look at the whole environment of a node.

    Raises:
        UserError: a sentence for each variable that is wrong, with its value and the mend.
    """
    problems = [*installed_problems(environment), *value_problems(environment), *file_problems(environment)]
    if problems:
        raise UserError(" ".join(problems))


def check_installed(environment: Mapping[str, str] = os.environ) -> None:
    """Check that ROS can be imported, for work that makes no node.

    Raises:
        UserError: ROS would end this process, or can't be imported.
    """
    if problems := installed_problems(environment):
        raise UserError(" ".join(problems))
