"""The operator's desk: the state of a running team as it tells it, its event log, and orders to it."""
