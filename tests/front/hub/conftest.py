"""Bundles and keys of the tests of the fleet."""

from tests.fleet.conftest import bundles, own_keys

__all__ = ["bundles", "own_keys"]
