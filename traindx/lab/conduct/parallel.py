"""Several experiments at a time, as many as there are cores for."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_each(workers: int) -> int:
    """Threads for the arithmetic of each of so many experiments."""
    return max(1, cores() // workers)


def run_all(jobs: Sequence[Callable[[threading.Event], Result]], workers: int = 1) -> list[Result]:
    """The results of all jobs in their order, at most `workers` (and cores) of them at a time.

    Each job is given the event to pass on as `conduct(stop=...)`: it is set when one of them raises,
    or on Ctrl-C; what is raised here is the first of these, after all have ended."""
    stop = threading.Event()
    if min(workers, cores(), len(jobs)) <= 1:
        return [job(stop) for job in jobs]
    with ThreadPoolExecutor(min(workers, cores())) as pool, stop_on_error(stop):
        futures = [pool.submit(run_unless_stopped, stop, job) for job in jobs]
        watch(futures)
        return [future.result() for future in futures]


def run_unless_stopped(stop: threading.Event, job: Callable[[threading.Event], Result]) -> Result:
    """Do the job; it is not begun once all are to end."""
    if stop.is_set():
        raise InterruptedError("not begun: another experiment failed")
    return job(stop)


def watch(futures: Sequence[Future[Result]]) -> None:
    """Until all have ended, or one has failed: then that one's exception."""
    done, _ = wait(futures, return_when=FIRST_EXCEPTION)
    for future in done:
        future.result()


@contextmanager
def stop_on_error(stop: threading.Event) -> Iterator[None]:
    """Ask all running jobs to end when anything is raised. The pool then waits for them."""
    try:
        yield
    finally:
        stop.set()
