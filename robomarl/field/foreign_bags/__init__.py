"""Recordings of other software: PX4, MAVROS and Crazyswarm2, as tracks and views."""
