"""Topics and services of one Crazyflie behind the crazyflie_server of Crazyswarm2, below its name.

Facts of that server: the velocity of `odom` is the world's, its rates are empty, `header.frame_id` is the vehicle's
name, stamps are those of arrival at the server. `rates` is a custom topic: RATES_VARIABLES of the firmware's log.
"""

from robomarl.ros.topics import Topic

PACKAGE = "crazyflie_interfaces"
BELOW = "/cf"
"""Namespace of a simulated vehicle below its robot's."""
RATES_VARIABLES = ("gyro.x", "gyro.y", "gyro.z", "acc.x", "acc.y", "acc.z")
"""Body rates [deg/s] and specific force of the accelerometer [g], FLU."""
ODOMETRY = Topic("odom", "nav_msgs/msg/Odometry", False, False, 5, "50 Hz", "-", "state estimate without rates",
                 ("header", "pose.pose", "twist.twist.linear"))  # fmt: skip
RATES = Topic("rates", f"{PACKAGE}/msg/LogDataGeneric", False, False, 5, "50 Hz", "-", "body rates, accelerometer")
STATUS = Topic("status", f"{PACKAGE}/msg/Status", False, False, 5, "10 Hz", "-", "supervisor, battery, radio")
FULL_STATE = Topic("cmd_full_state", f"{PACKAGE}/msg/FullState", True, False, 1, "50 Hz", "-", "what is tracked")
HEARD = (ODOMETRY, RATES, STATUS)
TOLD = (FULL_STATE,)
ARM, TAKE_OFF, LAND, NOTIFY, EMERGENCY = "arm", "takeoff", "land", "notify_setpoints_stop", "emergency"
SERVICES = {
    ARM: f"{PACKAGE}/srv/Arm",
    TAKE_OFF: f"{PACKAGE}/srv/Takeoff",
    LAND: f"{PACKAGE}/srv/Land",
    NOTIFY: f"{PACKAGE}/srv/NotifySetpointsStop",
    EMERGENCY: "std_srvs/srv/Empty",
}
"""Type by name."""
