"""Robot soccer: two teams, a ball, and what each robot sees of them."""
