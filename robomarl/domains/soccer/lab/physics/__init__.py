"""Ball, robots and their contacts. Array-generic."""
