"""Messages and processes: contents, formats, senders and receivers."""
