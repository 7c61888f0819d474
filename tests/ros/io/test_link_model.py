"""The bad radio is as bad as it says."""

import numpy as np
import pytest

from robomarl.ros.io.link_model import Link, LinkQuality, is_cut, sensor_faults


def lost(quality: LinkQuality, count: int = 20000) -> np.ndarray:
    """[count] bool: which messages were lost."""
    link, found = Link(0), []
    for i in range(count):
        before = link.lost
        link.send(b"", float(i), quality)
        found.append(link.lost > before)
    return np.array(found)


@pytest.mark.parametrize(("loss", "burst"), [(0.0, 1), (0.3, 1), (0.3, 5), (0.05, 10), (1.0, 1)])
def test_the_share_and_the_bursts_of_losses(loss: float, burst: float):
    found = lost(LinkQuality(loss=loss, burst=burst))
    assert found.mean() == pytest.approx(loss, abs=0.02)
    if 0 < loss < 1:
        bursts = np.diff(np.flatnonzero(np.diff(np.r_[0, found.astype(int), 0])))[::2]
        assert bursts.mean() == pytest.approx(burst, rel=0.15)


def test_messages_come_after_the_delay_in_order_without_jitter():
    link, quality = Link(0), LinkQuality(delay_s=0.1)
    for i in range(5):
        link.send(bytes([i]), i * 0.01, quality)
    assert link.due(0.099) == []
    assert link.due(0.125) == [b"\x00", b"\x01", b"\x02"]
    assert link.due(9.0) == [b"\x03", b"\x04"]
    assert link.due(99.0) == []


def test_jitter_stays_within_its_bound_and_overtakes():
    link, quality = Link(1), LinkQuality(delay_s=0.05, jitter_s=0.1)
    for i in range(100):
        link.send(bytes([i]), i * 0.01, quality)
    arrived, order = {}, []
    for step in range(2000):
        for data in link.due(step * 0.001):
            arrived[data[0]] = step * 0.001
            order.append(data[0])
    delays = np.array([arrived[i] - i * 0.01 for i in range(100)])
    assert delays.min() >= 0.05 - 1e-9
    assert delays.max() <= 0.151
    assert order != sorted(order)


def test_a_partition_is_for_a_robot_or_for_one_direction():
    assert is_cut("a", "b", ("a",)) and is_cut("b", "a", ("a",))
    assert is_cut("a", "b", ("a>b",)) and not is_cut("b", "a", ("a>b",))
    assert not is_cut("a", "b", ("c",))
    link = Link(0)
    link.send(b"", 0.0, LinkQuality(), cut=True)
    assert (link.due(1.0), link.sent, link.lost) == ([], 1, 1)


def test_faults_of_sensors_are_known_or_refused():
    assert sensor_faults(("", "a=frozen", "b=nan")) == {"a": "frozen", "b": "nan"}
    with pytest.raises(ValueError, match="allowed: silent, frozen"):
        sensor_faults(("a=drunk",))
