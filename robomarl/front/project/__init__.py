"""Projects of `robomarl init`: a package of one's own with a task, a scenario, a recipe, a fleet and a test."""
