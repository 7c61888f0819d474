"""`main.c`: the bundle's golden sequences through the C actor, compared and timed."""

import numpy as np

from robomarl.core.bundle.bundle import Bundle
from robomarl.core.bundle.golden import TOLERANCE
from robomarl.core.bundle.runtime import read_golden
from robomarl.lab.export_c.source import MARK, floats, symbol


def golden_test(bundle: Bundle) -> str:
    """The source of a program that prints the largest difference and the time of a decision, and fails over 1e-5."""
    golden, name = read_golden(bundle), symbol(bundle.contract.name)
    flights = [np.moveaxis(array, 2, 1) for array in (golden.obs, golden.action)]  # [S, N, T, ...]: each robot's own
    sequences, robots, steps = flights[0].shape[:3]
    sizes = {"FLIGHTS": sequences * robots, "STEPS": steps}
    arrays = [floats(title, array.reshape(-1)) for title, array in zip(("seen", "done"), flights, strict=True)]
    return "\n".join(
        [
            f"{MARK}: the golden test of bundle {name}, {bundle.id[:16]}. */",
            f'#include "{name}.h"\n\n#include <math.h>\n#include <stdio.h>\n#include <time.h>\n',
            *(f"#define {title} {size}" for title, size in sizes.items()),
            *arrays,
            _PROGRAM.replace("NAME", name).replace("BIG", name.upper()).replace("TOLERANCE", f"{TOLERANCE:g}f"),
        ]
    )


_PROGRAM = """
static NAME_memory memory;

/* All decisions of all robots once; returns the largest difference from the golden actions. */
static float fly(void)
{
    float largest = 0.0f;
    for (int flight = 0; flight < FLIGHTS; ++flight) {
        NAME_reset(&memory);
        for (int step = 0; step < STEPS; ++step) {
            const int at = flight * STEPS + step;
            float action[BIG_ACTION_SIZE];
            if (!NAME_decide(&memory, seen + at * BIG_OBSERVATION_SIZE, action)) { return INFINITY; }
            for (int i = 0; i < BIG_ACTION_SIZE; ++i) {
                const float difference = fabsf(action[i] - done[at * BIG_ACTION_SIZE + i]);
                if (!(difference <= largest)) { largest = difference; }
            }
        }
    }
    return largest;
}

int main(void)
{
    const float largest = fly();
    const clock_t start = clock();
    clock_t now = start;
    long flown = 0;
    while (now - start < CLOCKS_PER_SEC / 5) {
        if (fly() > largest) { return 1; } /* the same again: the actor has no memory but the one that is passed */
        flown += (long)FLIGHTS * STEPS;
        now = clock();
    }
    printf("largest_difference %.3g\\n", (double)largest);
    printf("decision_us %.3g\\n", 1e6 * (double)(now - start) / CLOCKS_PER_SEC / (double)flown);
    return largest <= TOLERANCE ? 0 : 1;
}
"""
