"""How fast ground teams are simulated: `python -m benchmarks.ground.rate [SCENARIO]`.

In published steps of the whole team, and in seconds of CPU time, so that what else a machine does counts less: a
second on two cores is two of those.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

BATCH = 1024


def rate(scenario: Any, mode: str, batch: int = BATCH) -> float:
    """Published steps of a team for each second of CPU time, in JAX, every robot decided for at each inner step.

    Args:
        scenario: of ground robots.
        mode: of the filter, which decides at each inner step too, or "off".
        batch: teams side by side.
    """
    import jax

    from robomarl.lab.sim.engines.batch_last import to_last, vmap_last
    from robomarl.lab.simulation import simulation_of

    inner = round(scenario.reward_step_s * scenario.rates.policy_hz)
    env = simulation_of(scenario).env(scenario, "fast", None, mode, None)
    state = to_last(jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), batch)))
    low, high, step = env.action.low, env.action.high, vmap_last(env.step)
    shape = (batch, env.num_agents, env.action_size)
    action = to_last(jax.random.uniform(jax.random.key(1), shape, minval=low, maxval=high))

    @jax.jit
    def roll(state: Any) -> Any:
        return jax.lax.scan(lambda s, _: (step(s, action), None), state, None, inner)[0]

    state = jax.block_until_ready(roll(state))
    return batch / cpu_s(lambda: jax.block_until_ready(roll(state)))


def cpu_s(call: Callable[[], object], repeats: int = 3) -> float:
    """CPU time of one call, the least of several."""
    took = []
    for _ in range(repeats):
        started = time.process_time()
        call()
        took.append(time.process_time() - started)
    return min(took)


def main() -> None:
    """Print the rates with and without the filter."""
    from robomarl.lab.sim.engines.compiler import share_results
    from robomarl.lab.sim.scenario import load_scenario

    share_results()  # as training does
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario", nargs="?", default="navigation")
    parser.add_argument("--batch", type=int, default=BATCH)
    args = parser.parse_args()
    scenario = load_scenario(args.scenario)
    for mode in ("off", "qp"):
        print(f"{args.scenario}, filter {mode}: {rate(scenario, mode, args.batch):,.0f} published steps per CPU second")


if __name__ == "__main__":
    main()
