"""An episode from above: the area, the source, and every robot with the middle of its cell."""

from robomarl.lab.evaluate.floor_plan import FloorPlan, write_film

PIXELS_PER_M = 80
COLOURS = ((0, 105, 180), (209, 86, 10), (0, 128, 95))
INK, SOURCE, FILTERED = (27, 33, 39), (250, 200, 40), (196, 48, 28)


def film(frames, scenario, file):
    """`frames` are of `robomarl.lab.evaluate.model_episodes.ModelFrame`; .gif is a film, .png a picture of the end."""
    write_film(file, len(frames), scenario.rates.policy_hz, lambda number: draw(frames[number], scenario), 2.0)


def draw(frame, scenario):
    """One decision; robots whose command the filter changed have a red ring."""
    plan = FloorPlan(scenario.area_low_m, scenario.area_high_m, PIXELS_PER_M, (246, 246, 243))
    world, radius_m = frame.world, scenario.vehicle_config.body.radius_m
    plan.disc(world.own.source_m[0], 0.35, fill=SOURCE, outline=INK)
    for robot, place in enumerate(world.pos_m):
        plan.line(place, world.goal_m[robot], INK)
        plan.disc(place, radius_m, fill=COLOURS[robot % 3], outline=FILTERED if frame.active[robot] else INK, width=3)
        plan.text(place, str(robot), (255, 255, 255))
    plan.title(f"{world.step * scenario.period_s:5.1f} s", INK)
    return plan
