"""Measurement of how far a vehicle departs from its commands: steps and sweeps on the real engine, and
the figures that a safety filter has to assume so that its model contains every one of these
flights.
"""
