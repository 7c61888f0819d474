"""What the safety filter of a flying team assumes, the plants that this is measured on, and attacks."""
