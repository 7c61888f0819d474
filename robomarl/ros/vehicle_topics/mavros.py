"""Topics and services of one MAVROS node, below its namespace; positions are in ENU and FLU there."""

from robomarl.ros.topics import Topic

PACKAGE = "mavros_msgs"
BELOW = "/mavros"
"""Namespace of a simulated vehicle below its robot's."""
STATE = Topic("state", f"{PACKAGE}/msg/State", False, False, 5, "1 Hz", "-", "mode, arming")
EXTENDED = Topic("extended_state", f"{PACKAGE}/msg/ExtendedState", False, False, 5, "1 Hz", "-", "whether it stands")
ODOMETRY = Topic("local_position/odom", "nav_msgs/msg/Odometry", False, False, 5, "30 Hz", "map", "state estimate",
                 ("header", "pose.pose", "twist.twist"))  # fmt: skip
IMU = Topic(
    "imu/data_raw",
    "sensor_msgs/msg/Imu",
    False,
    False,
    5,
    "50 Hz",
    "base_link",
    "what its accelerometer feels",
    ("header", "linear_acceleration"),
)
BATTERY = Topic("battery", "sensor_msgs/msg/BatteryState", False, False, 5, "1 Hz", "-", "voltage, charge",
                ("header", "voltage"))  # what is not measured is NaN  # fmt: skip
HEARD = (STATE, EXTENDED, ODOMETRY, IMU, BATTERY)
TARGET = Topic("setpoint_raw/local", f"{PACKAGE}/msg/PositionTarget", True, False, 1, "50 Hz", "map", "what is tracked")
TOLD = (TARGET,)
ARMING, SET_MODE, COMMAND, INFO, PARAMETERS = (
    *("cmd/arming", "set_mode", "cmd/command", "vehicle_info_get"),
    "param/get_parameters",
)
SERVICES = {
    ARMING: f"{PACKAGE}/srv/CommandBool",
    SET_MODE: f"{PACKAGE}/srv/SetMode",
    COMMAND: f"{PACKAGE}/srv/CommandLong",
    INFO: f"{PACKAGE}/srv/VehicleInfoGet",
    PARAMETERS: "rcl_interfaces/srv/GetParameters",
}
"""Type by name; the parameters of the vehicle are those of MAVROS' node `param`."""
