"""Search over the parameters of structured policies, and such policies."""
