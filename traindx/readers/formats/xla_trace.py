"""Chrome traces that JAX and TensorFlow write next to a profile (`*.trace.json.gz`): the same events."""

from traindx.readers.api import Any, Event, Iterator, RawLog, Source
from traindx.readers.files.text_blocks import is_text
from traindx.readers.formats.torch_trace import LIST
from traindx.readers.formats.xplane import profile_log
from traindx.readers.traces.events import as_real_number, events, thread_key
from traindx.readers.traces.planes import OPERATOR, STEP, Happened
from traindx.readers.traces.programs import columns_of

NAME = "xla-trace"
BEGINS = (b"{",)
HOLDS = (b'"traceEvents"', b'"process_name"')
OURS = (b'"/host:CPU', b'"/device:')  # names of processes


def sniff(source: Source) -> float:
    """A document with a list of trace events, whose processes are a profiler's planes."""
    head = source.head
    if not is_text(head) or head.lstrip()[:1] != b"{" or not LIST.search(head):
        return 0.0
    return 0.9 if b'"process_name"' in head and any(word in head for word in OURS) else 0.0


def read(source: Source) -> list[RawLog]:
    """One run, its steps those that were traced. Errors: NotALog where nothing in it was computed."""
    damage: list[Event] = []
    return [profile_log(source, NAME, columns_of(read_events(source, damage), damage), damage)]


def read_events(source: Source, damage: list[Event]) -> Iterator[Happened]:
    """Every event with a duration. The names of processes and threads come before the events."""
    planes: dict[object, str] = {}
    lines: dict[object, str] = {}
    for event in events(source, damage):
        place, args = thread_key((event.get("pid"), event.get("tid"))), event.get("args")
        args = args if isinstance(args, dict) else {}
        if event.get("ph") == "M":
            known = {"process_name": (planes, place[0]), "thread_name": (lines, place)}.get(
                str(event.get("name"))
            )
            if known is not None:
                known[0][known[1]] = str(args.get("name", ""))
            continue
        at, lasted = as_real_number(event.get("ts")), as_real_number(event.get("dur"))
        if event.get("ph") != "X" or at is None or not abs(at) < 1e15 or not 0 <= (lasted or 0.0) < 1e15:
            continue
        yield make_event(
            event, args, planes.get(place[0], ""), lines.get(place, str(place)), at, lasted or 0.0
        )


def make_event(
    event: dict[str, Any], args: dict[str, Any], plane: str, line: str, at: float, lasted: float
) -> Happened:
    """Times in microseconds."""
    step = as_real_number(args.get(STEP))
    step = step if step is not None and abs(step) < 1e15 else None
    operator = any(name in args for name in OPERATOR)
    return Happened(
        plane, line, str(event.get("name", "")), 0, round(1e6 * at), round(1e6 * lasted), step, operator
    )
