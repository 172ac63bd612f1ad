"""SYS015 graph-is-kept."""

from traindx.features.performance.level_shifts import start_up
from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="SYS015",
    needs=("setup:graphs_kept",),
    min_points=1,
    severity="low",
    message="the graph of each step is kept in {what}: {count:.0f} so far",
)
def graph_is_kept(
    run: Run,
    features: Features,
    *,
    few: float = threshold(4, "graphs", "theory", "half of the steps between the first two checks"),
    ratio: float = threshold(1.1, "x the first level", "measured", "as in memory-grows"),
    start: float = threshold(0.05, "of the run", "convention", "allocators and caches fill up first"),
) -> Iterator[Evidence]:
    """A variable of the training loop keeps tensors of all steps together with their graphs.

    ## What it sees
    In the functions that are running when a step is made: a list of tensors that have a graph, or a tensor
    whose graph gets longer, by about one per step. The line that adds to it is named where it is found.
    Severity is medium if the memory of the process has grown by a tenth since the start.

    ## Why it matters
    A graph holds the tensors that it was computed from. After `backward` that is little, but it is never
    freed; outputs and losses without `backward` hold all their activations.

    ## When it is wrong
    Tensors that a later backward pass needs (truncated backpropagation through time) are freed at its
    end.

    ## What to try
    Keep `loss.item()` or `loss.detach()`, detach states between batches (`state = state.detach()`), and
    evaluate under `torch.no_grad()`.

    ## Sources
    PyTorch FAQ, My model reports cuda runtime error(2): out of memory,
    https://docs.pytorch.org/docs/stable/notes/faq.html.
    """
    count = run.setup.number("graphs_kept") or 0.0
    if count < few:
        return
    memory = features.curve("mem/host")
    grown = False
    if memory is not None and memory.n:
        grown = bool(memory.values[-1] >= ratio * memory.values[start_up(memory.n, start)])
    name, at = run.setup.known("graphs_kept_by") or "a variable", run.setup.known("graphs_kept_at")
    yield Evidence(
        severity="medium" if grown else "low",
        strength=1.0 if grown else 0.5,
        where=str(at or ""),
        values={"what": f"{name} ({at})" if at else str(name), "count": count},
        points=(EvidencePoint("setup:graphs_kept", None, count, few, "graphs"),),
    )
