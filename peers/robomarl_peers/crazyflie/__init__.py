"""A Crazyflie that answers like one: CRTP over UDP, the set-points and the supervisor of its firmware, MuJoCo below."""
