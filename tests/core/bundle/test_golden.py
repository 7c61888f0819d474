"""Golden sequences as a file."""

import gc
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from robomarl.core.bundle import golden
from robomarl.core.bundle.bundle import load_bundle


def give_way(*_) -> None:
    time.sleep(0)


@pytest.fixture
def restless() -> Iterator[None]:
    """The garbage collector runs often, and lets another thread go on each time."""
    threshold, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.callbacks.append(give_way)
    gc.set_threshold(50)
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)
    gc.callbacks.remove(give_way)


@pytest.mark.usefixtures("restless")
def test_threads_read_at_the_same_time():
    content = load_bundle("swap_4").files["golden.npz"]
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(golden.from_bytes, [content] * 40))
    assert all((sequences.obs == read[0].obs).all() for sequences in read)
