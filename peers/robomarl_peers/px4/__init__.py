"""A PX4 vehicle that answers like one: MAVLink over UDP, its modes and fail-safes, its controllers, MuJoCo below."""
