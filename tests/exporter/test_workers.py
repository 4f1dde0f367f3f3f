import threading

import pytest

from exporter.workers import SaturatedError, Workers


def test_results_and_errors_come_back():
    workers = Workers("test", threads=2)
    assert workers.submit(lambda: 42).result(5) == 42

    def fail():
        raise KeyError("x")

    with pytest.raises(KeyError):
        workers.submit(fail).result(5)
    assert workers.submit(lambda: 43).result(5) == 43


def test_threads_are_kept_and_never_more_than_said():
    workers = Workers("bounded", threads=3, waiting=10)
    gate = threading.Event()
    work = [workers.submit(lambda: gate.wait(10)) for _ in range(13)]
    with pytest.raises(SaturatedError):
        workers.submit(lambda: None)
    names = [thread.name for thread in threading.enumerate()]
    assert len([name for name in names if name.startswith("bounded-")]) == 3
    gate.set()
    assert all(future.result(5) for future in work)
    for _ in range(100):
        workers.submit(lambda: None).result(5)
    names = [thread.name for thread in threading.enumerate()]
    assert len([name for name in names if name.startswith("bounded-")]) == 3


def test_one_after_another_needs_one_thread():
    workers = Workers("single", threads=8)
    for _ in range(50):
        workers.submit(lambda: None).result(5)
    names = [thread.name for thread in threading.enumerate()]
    assert len([name for name in names if name.startswith("single-")]) == 1
