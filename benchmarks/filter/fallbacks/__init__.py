"""Attack on the filter's fallbacks by an independent plant: `python -m benchmarks.filter.fallbacks VEHICLE`.

The plant, the errors and the faults are written from the words of the vehicle files and of `docs/safety.md`. Of the
project they use `SafetyFilter` as a robot does, and none of the models that the filter is built from.
"""
