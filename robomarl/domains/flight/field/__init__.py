"""What is made of the flights of teams that fly, and nodes that simulate them."""
