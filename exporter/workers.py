"""Threads for work that blocks, bounded in number, that never hold up the end of the program."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class SaturatedError(Exception):
    """All threads are at work and as much as may wait is waiting."""


class Workers:
    """At most so many daemon threads, each started when it is first needed and then kept.

    `concurrent.futures.ThreadPoolExecutor` would do but for its end: the interpreter waits for
    its threads, and a scrape that hangs in a driver call would keep SIGTERM from ending the
    process.
    """

    def __init__(self, name: str, threads: int, waiting: int = 0) -> None:
        """Take a name for the threads, their number, and how many more calls may wait."""
        self._name = name
        self._limit = threads
        self._capacity = threads + waiting
        self._started = 0
        self._taken = 0
        self._lock = threading.Lock()
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Have ``function`` called in a thread and return its result to come.

        Raises:
            SaturatedError: No more is taken on for now.
        """
        with self._lock:
            if self._taken >= self._capacity:
                raise SaturatedError(self._name)
            self._taken += 1
            if self._taken > self._started and self._started < self._limit:
                self._started += 1
                threading.Thread(
                    target=self._work, name=f"{self._name}-{self._started}", daemon=True
                ).start()
        future: Future[T] = Future()
        self._calls.put((future, function))
        return future

    def _work(self) -> None:
        while True:
            future, function = self._calls.get()
            try:
                result = function()
            except BaseException as error:  # it belongs to whoever waits
                self._release()
                future.set_exception(error)
            else:
                self._release()
                future.set_result(result)
            # A waiting thread must not keep the last page and its figures alive.
            del future, function

    def _release(self) -> None:
        # Before the result is handed over: who has it may submit the next call at once.
        with self._lock:
            self._taken -= 1
