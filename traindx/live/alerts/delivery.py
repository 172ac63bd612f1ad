"""Delivers events to targets: when a message is due, again until it arrives, and only once over restarts.

The journal of events is the queue: a lane only remembers up to which event it has delivered, so nothing can be lost.
Before a message is sent the lane writes down that it is, so that after `kill -9` in the middle the same events are sent
again and marked: no sender can know whether they arrived. A channel that can find out does not send them again: a
command runs to its end without the watch and leaves a receipt.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from traindx.atomic_write import write_atomically
from traindx.config import Alerts
from traindx.errors import ConfigError
from traindx.live.alerts.messages import NotDelivered, message
from traindx.live.alerts.targets import Target
from traindx.locks import take_lock
from traindx.vocabulary.live import LiveEvent

FIRST_RETRY, LAST_RETRY = 1.0, 600.0  # seconds until a message is sent again: twice as long each time


class Progress(msgspec.Struct):
    """Events up to which a lane has delivered, or is delivering, and when it last did (seconds since 1970)."""

    done: int = 0
    sending: int = 0
    at: float = 0.0


class Lane:
    """One target's alerts, or its digest."""

    def __init__(
        self, target: Target, settings: Alerts, progress: Progress, receipt: Path, digest: bool = False
    ) -> None:
        self.target, self.settings, self.progress = target, settings, progress
        self.receipt, self.digest = receipt, digest
        self.in_doubt = progress.sending > progress.done
        self.failures, self.failed_at, self.seen_at = 0, 0.0, 0.0
        self.complaint = ""

    def pending(self, events: Sequence[LiveEvent]) -> list[LiveEvent]:
        """What is to be delivered next. A message that was cut off goes out again as it was."""
        until = self.progress.sending if self.in_doubt else len(events)
        return [
            event
            for event in events[self.progress.done : until]
            if self.digest or event.reaches(self.target.least)
        ]

    def due(self, pending: Sequence[LiveEvent], now: float, closing: bool) -> bool:
        """Whether to send `pending` at `now` (seconds since 1970). `closing`: there will be no later call."""
        if not pending:
            self.seen_at = 0.0
            return False
        self.seen_at = self.seen_at or now
        if not closing and self.failures:
            return abs(now - self.failed_at) >= min(
                FIRST_RETRY * (1 << min(self.failures - 1, 16)), LAST_RETRY
            )
        if self.in_doubt:
            return True
        waited = abs(now - self.progress.at)  # the clock may have been set back
        if self.digest:
            return waited >= 3600 * self.settings.digest_hours
        grave = any(
            event.kind == "run-failed" or (event.finding and event.finding.severity == "critical")
            for event in pending
        )
        if self.settings.is_quiet(datetime.fromtimestamp(now)) and not grave:
            return False
        settled = abs(now - self.seen_at) >= self.settings.group_seconds
        return closing or (settled and waited >= self.settings.least_seconds)

    def deliver(self, events: Sequence[LiveEvent], upto: int, save: Callable[[], None]) -> None:
        """Send `events`, the last of which is number `upto`, and write down how that went."""
        progress, repeated = self.progress, self.in_doubt
        progress.sending = upto
        save()
        try:
            made = message(events, self.receipt, repeated=repeated, digest=self.digest)
            self.target.module.send(self.target.address(), made)
        except Exception as error:  # noqa: BLE001 - whatever a channel raises, the watch and other targets go on
            progress.sending = upto if repeated else 0  # the attempt before a restart is still in doubt
            # The text of an unexpected error may hold the address.
            why = str(error) if isinstance(error, NotDelivered | ConfigError) else type(error).__name__
            self.complaint = f"not delivered to {self.target.shown}: {why}"
            self.failures, self.failed_at = self.failures + 1, time.time()
        else:
            progress.done, progress.at = upto, time.time()
            self.failures, self.complaint, self.seen_at, self.in_doubt = 0, "", 0.0, False
        save()


class Courier:
    """Delivers in a separate thread what is appended to `events`. `complain` is given each new reason why something
    does not arrive. Raises ConfigError if another process delivers for this folder."""

    def __init__(
        self, folder: Path, events: Sequence[LiveEvent], targets: Sequence[Target], settings: Alerts,
        complain: Callable[[str], None],
    ) -> None:  # fmt: skip
        try:
            self.lock = take_lock(folder / "alerts.lock")
        except BlockingIOError as error:
            raise ConfigError("another `traindx watch` of these paths sends alerts already") from error
        self.file, self.events, self.complain = folder / "alerts", events, complain
        kept = (
            msgspec.json.decode(self.file.read_bytes(), type=dict[str, Progress])
            if self.file.exists()
            else {}
        )
        self.progress, self.lanes = kept, []
        for target in targets:
            for digest in (False, True) if settings.digest_hours else (False,):
                name = target.name + (" digest" if digest else "")
                # A new target is sent what happens from now on.
                known = kept.setdefault(name, Progress(len(events), at=time.time() if digest else 0.0))
                known.done = min(known.done, len(events))  # where a damaged journal has lost its last events
                self.lanes.append(Lane(target, settings, known, folder / name.replace(" ", "-"), digest))
        self.save()
        self.news, self.closing, self.trouble = threading.Event(), False, ""
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def save(self) -> None:
        write_atomically(self.file, msgspec.json.encode(self.progress).decode())

    def work(self) -> None:
        while not self.closing:
            self.news.wait(0.25 if self.attempt() else 5.0)
            self.news.clear()
        self.attempt()

    def attempt(self) -> int:
        """One round. Where it cannot be written down what was sent, nothing is sent: it would be sent again."""
        try:
            waiting, why = self.round(), ""
        except OSError as error:
            waiting, why = 0, f"alerts wait: {self.file} cannot be written: {error.strerror}"
        if why and why != self.trouble:
            self.complain(why)
        self.trouble = why
        return waiting

    def round(self) -> int:
        """Deliver what is due. Returns how many lanes still have something to deliver."""
        waiting = 0
        for lane in self.lanes:
            upto = lane.progress.sending if lane.in_doubt else len(self.events)
            pending = lane.pending(self.events[:upto])
            if lane.due(pending, time.time(), self.closing):
                before = lane.complaint
                lane.deliver(pending, upto, self.save)
                if lane.complaint and lane.complaint != before:
                    self.complain(lane.complaint)
            waiting += bool(lane.complaint or lane.in_doubt or (pending and lane.progress.done < upto))
        return waiting

    def close(self, seconds: float = 70.0) -> None:
        """Deliver what remains, and end. What does not arrive is delivered by the next watch of the same paths."""
        self.closing = True
        self.news.set()
        self.thread.join(seconds)
        held = sum(bool(lane.pending(self.events)) for lane in self.lanes if not lane.digest)
        if held:
            self.complain("undelivered alerts are kept; the next `traindx watch` of these paths sends them")
        os.close(self.lock)
