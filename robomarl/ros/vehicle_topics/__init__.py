"""Topics and addresses by which robots reach the drivers of their vehicles."""
