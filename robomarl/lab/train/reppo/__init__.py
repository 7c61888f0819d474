"""REPPO: the critic of an action by histograms, and the policy along its slope."""
