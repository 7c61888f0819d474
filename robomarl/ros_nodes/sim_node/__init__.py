"""`sim_node`: a team of simulated robots behind the same topics as real ones. The only node that needs MuJoCo."""


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl sim_node`."""
    from robomarl.ros_nodes.sim_node.node import main as run

    return run(args)
