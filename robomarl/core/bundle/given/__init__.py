"""What a decision is given: views and memories, looked at before they are used."""
