"""A better bundle from recordings: identify, accept, train or search, judge, export."""
