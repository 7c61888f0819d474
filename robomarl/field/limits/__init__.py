"""How far a vehicle departs from its commands: steps and sweeps on the real engine, and what a safety filter has to
assume so that its model contains every one of these flights.
"""
