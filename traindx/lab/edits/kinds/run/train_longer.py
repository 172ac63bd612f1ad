"""`steps=*2`: twice as many epochs, the outermost loop of the training, of `fit`, or of a Trainer's settings."""

from traindx.lab.edits.api import (
    Project,
    argument,
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

LENGTHS = ("max_epochs", "num_train_epochs", "max_steps")  # of Lightning and of transformers
SETTINGS = ("Trainer", "TrainingArguments", "Seq2SeqTrainingArguments")


@writes("steps", as_text=True)
def train_longer(project: Project, value: str) -> None:
    times = float(value[1:]) if value.startswith("*") else None
    trainings = [(one, one.argument("epochs", 3)) for one in fits(project)] if is_keras(project) else []
    for one in project.calls():
        given = [argument(one.call, name) for name in LENGTHS if one.kind in SETTINGS]
        trainings += [(one, length.value) for length in given if length is not None]
    if times is not None and len(trainings) == 1:
        ((one, length),) = trainings
        write = f"{times:g} times the epochs of {one.kind}"
        whole = certain_value(project, one.source, length or one.call, write, one.call)
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
