"""Messages and processes: what is sent and received, in which form, by whom."""
