"""`steps=*2`: twice as many epochs, the outermost loop of the training, or of `fit`."""

from traindx.lab.edits.api import (
    Project,
    certain_value,
    cst,
    epochs,
    fits,
    is_keras,
    schedules,
    trace,
    write_value,
    writes,
)


@writes("steps", as_text=True)
def train_longer(project: Project, value: str) -> None:
    times = float(value[1:]) if value.startswith("*") else None
    trainings = fits(project) if is_keras(project) else []
    if times is not None and len(trainings) == 1:
        (one,) = trainings
        write = f"{times:g} times the epochs of fit"
        whole = certain_value(project, one.source, one.argument("epochs", 3) or one.call, write, one.call)
        write_value(project, whole.origin, round(whole.origin.value * times), "the epochs")
        return
    source, loop = epochs(project)
    if times is None:
        raise source.doubt(loop, f"steps={value}", "cannot tell how many epochs these are")
    write = f"{times:g} times the epochs"
    if schedules(project):
        raise source.doubt(loop, f"{write}, and the schedule's length with them", "there is a schedule")
    rounds = loop.iter
    if not (
        isinstance(rounds, cst.Call)
        and source.code(rounds.func).endswith("range")
        and len(rounds.args) in (1, 2)
    ):
        raise source.doubt(loop, write, "the loop is not over a range")
    found = certain_value(project, source, rounds.args[-1].value, write, loop)
    planned = project.number("planned_epochs")
    if planned is not None and found.value != planned:
        return
    start = trace(project, source, rounds.args[0].value) if len(rounds.args) == 2 else None
    first = int(start.value) if start is not None else 0
    write_value(project, found.origin, round((found.origin.value - first) * times) + first, "the epochs")
