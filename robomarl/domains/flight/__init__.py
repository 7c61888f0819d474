"""Teams of quadrotors that fly freely."""
