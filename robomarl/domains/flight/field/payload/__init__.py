"""What recordings of teams that carry tell of the payload."""
