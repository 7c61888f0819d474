"""Simulators of vehicles with a protocol of their own: found by entry point, or one sentence says what to install."""

from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.core.domain.registry import domains
from robomarl.ros.operator.peers import GROUP, PeerProgram, peer_program


def test_each_simulated_adapter_has_a_program():
    adapters = {adapter for domain in domains().values() for adapter in domain.onboard.peers}
    found = {adapter: peer_program(adapter) for adapter in adapters}
    assert {program.package for program in found.values()} == {"robomarl_peers"}
    assert found["px4"] == PeerProgram("robomarl_peers", "px4_peer_node", "robomarl_peers.flying px4_peer_node")


def test_a_missing_package_is_one_sentence():
    with pytest.raises(UserError, match=r"--vehicles blimp are in the package robomarl-peers.*pip install \./peers"):
        peer_program("blimp")


def test_another_package_adds_a_simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    info = tmp_path / "blimps-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: blimps\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nblimp = blimps.node:main\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert peer_program("blimp") == PeerProgram("blimps", "blimp_peer_node", "blimps.node blimp_peer_node")
