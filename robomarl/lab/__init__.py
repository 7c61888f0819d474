"""What simulates, trains, evaluates and exports; no robot needs it."""
