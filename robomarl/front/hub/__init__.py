"""Bundles at an address: a folder, an S3-like store, a web server or a hub of models, all reached through fsspec."""
