"""Work shared among processes and machines by Ray: `sweep`, `eval`, `prove`, `bench` and leagues."""
