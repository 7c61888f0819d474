"""What ROS 2 needs: colcon runs this file. The rest is in pyproject.toml."""

from setuptools import setup

setup(
    python_requires=">=3.11",
    license="Apache-2.0",
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/robomarl_peers"]),
        # `colcon build --symlink-install` runs setup.py in a folder that holds nothing but the data files.
        ("share/robomarl_peers", ["package.xml", "pyproject.toml", "README.md"]),
    ],
)
