"""Episodes of an evaluation, shared among workers in parts, with the figures of one process."""
