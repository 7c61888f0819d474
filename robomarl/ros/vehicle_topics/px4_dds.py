"""Topics of one PX4 vehicle on the network of its uXRCE-DDS agent, below its namespace. From PX4's
dds_topics.yaml.

PX4 sends each message once, by best effort; it keeps the newest of each topic for late subscribers.
"""

from robomarl.ros.topics import Topic


def _said(name: str, kind: str, rate: str, content: str, judged: tuple[str, ...] = ()) -> Topic:
    """Return a topic that PX4 publishes. Values that are not measured are NaN: fields that are not `judged` here are
    not read by `Px4State`, or validated when it reads them.
    """
    return Topic(f"fmu/out/{name}", f"px4_msgs/msg/{kind}", False, False, 5, rate, "-", content, judged)


def _told(name: str, kind: str, rate: str, content: str) -> Topic:
    """Return a topic that PX4 reads; values that are not controlled are NaN."""
    return Topic(f"fmu/in/{name}", f"px4_msgs/msg/{kind}", False, True, 5, rate, "-", content, ())


ODOMETRY = _said("vehicle_odometry", "VehicleOdometry", "100 Hz", "state estimate, local NED and FRD",
                 ("position", "q", "velocity", "angular_velocity"))  # fmt: skip
STATUS = _said("vehicle_status", "VehicleStatus", "5 Hz", "mode, arming, who it is")
BATTERY = _said("battery_status", "BatteryStatus", "1 Hz", "voltage, charge, warning", ("voltage_v",))
LAND = _said("vehicle_land_detected", "VehicleLandDetected", "5 Hz", "whether it stands")
LOCAL = _said("vehicle_local_position", "VehicleLocalPosition", "50 Hz", "where its local frame begins")
TIME = _said("timesync_status", "TimesyncStatus", "10 Hz", "how long a packet takes there and back")
ACK = _said("vehicle_command_ack", "VehicleCommandAck", "when it answers", "what became of a command")
SENSORS = _said("sensor_combined", "SensorCombined", "each sample", "what its accelerometer feels",
                ("accelerometer_m_s2",))  # fmt: skip
HEARD = (ODOMETRY, STATUS, BATTERY, LAND, LOCAL, TIME, ACK, SENSORS)
OFFBOARD = _told("offboard_control_mode", "OffboardControlMode", "50 Hz", "proof of life, and what is controlled")
SETPOINT = _told("trajectory_setpoint", "TrajectorySetpoint", "50 Hz", "what is tracked, local NED")
COMMAND = _told("vehicle_command", "VehicleCommand", "when it is told", "mode, arming, motors off")
TOLD = (OFFBOARD, SETPOINT, COMMAND)
