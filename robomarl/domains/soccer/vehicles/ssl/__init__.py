"""Robots of the RoboCup Small Size League: the league's vision in, the league's robot commands out."""
