"""The operator's side: the fleet plan, the console, rehearsals."""
