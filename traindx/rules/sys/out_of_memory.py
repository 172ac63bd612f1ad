"""SYS006 out-of-memory."""

from textwrap import shorten

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="SYS006",
    needs=("run",),
    min_points=0,
    severity="critical",
    message="the run ran out of memory: {what}",
)
def out_of_memory(
    run: Run,
    features: Features,
    *,
    shown: float = threshold(160, "characters", "convention", "as much of the message as a reader needs"),
    many: float = threshold(
        20, "points", "convention", "a batch that is too large fails in the first steps"
    ),
) -> Iterator[Evidence]:
    """The run ran out of memory.

    ## What it sees
    An out-of-memory error in the log, of the accelerator or of the host. Severity is critical, and high if
    steps follow: then the error was caught. After many good steps something may have been kept from each of
    them.

    ## Why it matters
    The run ended there, or continued without that batch.

    ## When it is wrong
    Batch-size finders run out of memory on purpose; then steps follow.

    ## What to try
    Use smaller batches with accumulation, activation checkpointing, or shorter sequences. First check
    whether memory had been growing.

    ## Sources
    PyTorch FAQ, My model reports cuda runtime error(2): out of memory,
    https://docs.pytorch.org/docs/stable/notes/faq.html.
    """
    events = [e for e in run.events if e.kind == "out-of-memory"]
    if not events:
        return
    event = events[-1]
    last = run.last_step
    survived = event.step is not None and last is not None and last > event.step
    begun = max((len(series) for series in run.series.values()), default=0)
    late = ("late",) if not survived and begun >= many else ()
    bare = event.message.lower().strip(" .") == "out of memory"
    yield Evidence(
        onset=event.step if event.step is not None else last,
        last=last,
        where=event.place or None,
        severity="high" if survived else "critical",
        aspects=("survived",) if survived else ("ended", *late),
        message="the run ran out of memory" if bare else None,
        values={"what": shorten(event.message, int(shown), placeholder=" …")},
        points=(EvidencePoint("event:out-of-memory", event.step, float(len(events)), 0.0, "times"),),
    )
