"""Motion of drones and of the ball in closed form, and the blow of a racket."""
