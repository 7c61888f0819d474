"""The engine with contacts of drones, rackets and the ball."""
