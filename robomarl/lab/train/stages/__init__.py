"""Trainings of several stages, each a run that starts from others: `[[stage]]` tables of a recipe."""
