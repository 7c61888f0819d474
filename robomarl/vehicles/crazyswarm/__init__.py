"""Crazyflies behind the crazyflie_server of Crazyswarm2."""
