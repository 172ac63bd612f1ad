"""Stops when the validation no longer improves, and keeps the best weights (fix `stop-early`): in a loop of
epochs, in Keras, in Lightning and in the Trainer of transformers."""

from traindx.lab.edits.api import (
    VALIDATION,
    Found,
    Project,
    argument,
    backwards,
    cst,
    epochs,
    model_at,
    validation,
    writes,
)

BEST, WAITED, KEPT, PATIENCE = "best_validation", "epochs_without_gain", "best_weights", 5
SETTINGS = "transformers.TrainingArguments"
STRATEGIES = ("eval_strategy", "evaluation_strategy")
WRITE = "stop at the best validation, and keep its weights"


@writes("stop", fixes=("stop-early",), as_text=True)
def stop_early(project: Project, _value: str) -> None:
    calls = project.calls()
    settings = [one for one in calls if one.source.name(one.call.func) == SETTINGS]
    trainers = [
        one for one in calls if "lightning" in one.source.name(one.call.func) and one.kind == "Trainer"
    ]
    fits = [
        one
        for one in calls
        if one.kind == "fit" and (one.argument("epochs") or one.argument("validation_data"))
    ]
    if settings:
        return keep_checkpoint(settings[0])
    if trainers:
        made: tuple[str, ...] = (
            f'EarlyStopping(monitor="{{0}}", patience={PATIENCE})',
            'ModelCheckpoint(monitor="{0}")',
        )
        library = trainers[0].source.name(trainers[0].call.func).partition(".")[0]
        home = "lightning.pytorch.callbacks" if library == "lightning" else f"{library}.callbacks"
        return add_callbacks(trainers[0], home, made, logged_loss_name(project))
    if fits and not backwards(project):
        made = (f'EarlyStopping(monitor="{{0}}", patience={PATIENCE}, restore_best_weights=True)',)
        measured = fits[0].argument("validation_data") or fits[0].argument("validation_split")
        home = "tensorflow.keras" if "tensorflow" in fits[0].source.text else "keras"
        return add_callbacks(fits[0], home + ".callbacks", made, "val_loss" if measured else "")
    return stop_loop(project)


def stop_loop(project: Project) -> None:
    """Remember the best weights at the end of each epoch, leave the loop, and restore them."""
    source, loop = epochs(project)
    if any(name.value == BEST for name in source.all(cst.Name)):
        return
    measured = validation(source, loop)
    inside = next(one for one in source.calls() if source.inside(one, loop))
    model = model_at(project, Found(source, inside))
    if not isinstance(loop.body, cst.IndentedBlock) or not model:
        why = "cannot tell which name holds the model" if not model else "the loop is one line"
        raise source.doubt(loop, WRITE, why)
    last = loop.body.body[-1]
    worst = "-" if measured.higher else ""
    source.insert_before(loop, f'{BEST}, {KEPT}, {WAITED} = {worst}float("inf"), None, 0')
    source.insert_after(
        last.body[0] if isinstance(last, cst.SimpleStatementLine) else last,
        f"if {measured.code} {'>' if measured.higher else '<'} {BEST}:\n"
        f"    {BEST}, {WAITED} = {measured.code}, 0\n"
        f"    {KEPT} = {{name: value.clone() for name, value in {model}.state_dict().items()}}\n"
        f"else:\n    {WAITED} += 1\n",
        f"if {WAITED} >= {PATIENCE}:\n    break\n",
    )
    source.insert_after(
        loop,
        f"if {KEPT} is not None:\n    {model}.load_state_dict({KEPT})\n",
        says=f"stops when {measured.code} has not improved for {PATIENCE} epochs, and restores the best weights",
        at=measured.at,
    )


def add_callbacks(to: Found, home: str, made: tuple[str, ...], monitor: str) -> None:
    """Pass the callbacks of a framework, on top of those that are passed already."""
    source, names = to.source, [one.partition("(")[0] for one in made]
    if names[0] in source.text:
        return
    if not monitor:
        raise to.doubt(WRITE, "cannot tell what measures the validation")
    new, now = ", ".join(made).format(monitor), argument(to.call, "callbacks")
    source.insert_before(to.small, f"from {home} import {', '.join(names)}")
    code = f"[{new}]" if now is None else f"[*{source.code(now.value)}, {new}]"
    says = f"{monitor} decides when to stop, and which weights are kept"
    source.set_argument(to.call, "callbacks", code, says)


def logged_loss_name(project: Project) -> str:
    """The name under which a Lightning module logs its validation loss, or ""."""
    calls = [one.call for one in project.methods("log")]
    names = [
        c.args[0].value.evaluated_value
        for c in calls
        if c.args and isinstance(c.args[0].value, cst.SimpleString)
    ]
    return next((str(name) for name in names if VALIDATION.fullmatch(str(name).replace("/", "_"))), "")


def keep_checkpoint(settings: Found) -> None:
    """Let the Trainer of transformers load its best checkpoint at the end."""
    call, source = settings.call, settings.source
    if argument(call, "load_best_model_at_end") is not None:
        return
    when = next((found for name in STRATEGIES if (found := argument(call, name)) is not None), None)
    if when is None or not isinstance(when.value, cst.SimpleString) or when.value.evaluated_value == "no":
        raise settings.doubt(WRITE, "the Trainer does not validate while it trains")
    source.set_argument(call, "save_strategy", source.code(when.value))
    says = "the checkpoint with the lowest validation loss is loaded at the end"
    source.set_argument(call, "load_best_model_at_end", "True", says)
