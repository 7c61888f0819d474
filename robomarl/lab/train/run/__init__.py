"""The host's part of training: runs, logs, checkpoints."""
