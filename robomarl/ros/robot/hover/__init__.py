"""Flight without a policy: climbing, hovering, landing, and knowing when one has landed."""
