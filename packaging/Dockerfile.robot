# One robot on a 64-bit ARM computer: the nodes, the store of bundles and the safety filter in C; no simulator.
#   python packaging/build.py robot
#   docker run --rm --network host -v /var/robomarl:/robot robomarl-robot robomarl up FLEET --robots NAME --no-monitor
# ROS 2 comes from the base image, because no wheels of ROS exist for this processor.
ARG BASE=ros:jazzy-ros-core

FROM ${BASE}
ARG ROS_PACKAGES="ros-jazzy-diagnostic-msgs ros-jazzy-nav-msgs ros-jazzy-rosgraph-msgs ros-jazzy-trajectory-msgs"
RUN apt-get update && apt-get install --yes --no-install-recommends python3-venv ${ROS_PACKAGES} && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv --system-site-packages /opt/robomarl
COPY dist/robot/ /tmp/robot/
# The messages of a distribution are compiled for its numpy, so a numpy of the distribution stays.
RUN numpy="$(python3 -c 'import numpy; print(numpy.__version__)' 2>/dev/null || true)" && /opt/robomarl/bin/pip install --no-cache-dir --only-binary=:all: ${numpy:+numpy==$numpy} /tmp/robot/*.whl && rm -rf /tmp/robot
ENV PATH=/opt/robomarl/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
RUN useradd --create-home robomarl && mkdir /robot && chown robomarl /robot
USER robomarl
WORKDIR /robot
# The filter must be the one in C, which the wheel has for this processor.
RUN python -c "from robomarl import blank_view, load_pilot; from robomarl.core.filter.kernel import usable; assert usable(); view = blank_view(num_mates=3); pilot = load_pilot('swap_4', team_size=4); print(pilot.step(pilot.init(view), view)[1].command)"
CMD ["robomarl", "--help"]
