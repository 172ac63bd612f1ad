"""Public programs with one natural fault each: `python -m benchmarks.world.planted FOLDER [--half …] [NAME…]`.

Each program gets the first faults of a list, shuffled by its name, that its source has a place for; it is run under
`traindx run`, and judged by the causes that its fault allows. What the folder holds is not run again. With `--well`, the
folder of `benchmarks.world` with the same programs without a fault, those that learn as well are counted apart."""

from __future__ import annotations

import argparse
import ast
import random
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from benchmarks.gym.scoring.tables import markdown
from benchmarks.world.__main__ import NOT_STARTED, Program, longest_of, prepare, programs, start, untrained
from traindx import pipeline
from traindx.errors import ReadError
from traindx.vocabulary.run import Run

ENTROPY, LIKELIHOOD, SQUARED = "cross_entropy|CrossEntropyLoss", "nll_loss|NLLLoss", "mse_loss|MSELoss"
LIMIT = 100  # seconds for one start
SKIPPED = ("RL", "GAN", "DCGAN", "actor", "REINFORCE")  # whose losses are no scores
Source = tuple[str, ast.Module]


class Spot(NamedTuple):
    """A statement, with the name that matters in it: `text` is what stands there."""

    node: ast.stmt
    text: str
    name: str


def statements(source: Source) -> list[ast.stmt]:
    return [node for node in ast.walk(source[1]) if isinstance(node, ast.stmt)]


def called(source: Source, method: str) -> list[Spot]:
    """Statements that are nothing but `<name>.<method>(…)`."""
    found = []
    for node in statements(source):
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == method:
            text = ast.get_source_segment(source[0], node) or ""
            found.append(Spot(node, text, ast.get_source_segment(source[0], call.func.value) or ""))
    return found


def optimizers(source: Source) -> list[Spot]:
    """Statements that make an optimizer; not those that an option decides on."""
    found = []
    optional = {
        id(one) for node in ast.walk(source[1]) if isinstance(node, ast.If) for one in ast.walk(node)
    }
    main = {id(one) for node in source[1].body if isinstance(node, ast.If) and "__main__" in ast.dump(node.test)
            for one in node.body}  # fmt: skip
    for node in statements(source):
        if id(node) in optional - main:
            continue
        text = ast.get_source_segment(source[0], node) or ""
        simple = isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1
        if (
            simple
            and re.search(r"optim\.\w+\(|\b(SGD|Adam|AdamW|RMSprop)\(", text)
            and "parameters()" in text
        ):
            found.append(Spot(node, text, ast.get_source_segment(source[0], node.targets[0]) or ""))
    return found


def after(source: Source, spots: list[Spot], line: str) -> str | None:
    """The source with a line after each spot; `{0}` stands for its name."""
    lines = source[0].splitlines()
    for spot in sorted(spots, key=lambda one: -(one.node.end_lineno or 0)):
        lines.insert(spot.node.end_lineno or 0, " " * spot.node.col_offset + line.format(spot.name))
    return "\n".join(lines) + "\n" if spots else None


def replaced(source: Source, spots: list[Spot], new: str) -> str | None:
    lines = source[0].splitlines()
    for spot in spots:
        lines[spot.node.lineno - 1 : spot.node.end_lineno] = [
            " " * spot.node.col_offset + new.format(spot.name)
        ] + [""] * ((spot.node.end_lineno or spot.node.lineno) - spot.node.lineno)
    return "\n".join(lines) + "\n" if spots else None


def of_optimizer(line: str, only: str = "") -> Callable[[Source], str | None]:
    """A line after the one optimizer is made, if its text has `only` in it."""

    def plant(source: Source) -> str | None:
        spots = optimizers(source)
        return after(source, spots, line) if len(spots) == 1 and only in spots[0].text else None

    return plant


def at_step(line: str, *, behind: bool = False, only: str = "") -> Callable[[Source], str | None]:
    """A line before (or behind) each `optimizer.step()`."""

    def plant(source: Source) -> str | None:
        names = {spot.name for spot in optimizers(source) if only in spot.text}
        spots = [spot for spot in called(source, "step") if spot.name in names]
        both = "{0}.step(); " + line if behind else line + "; {0}.step()"
        return replaced(source, spots, both) if len(names) == 1 and spots else None

    return plant


def without(method: str) -> Callable[[Source], str | None]:
    def plant(source: Source) -> str | None:
        names = {spot.name for spot in optimizers(source)}
        spots = called(source, method)
        return replaced(source, [s for s in spots if method != "step" or s.name in names], "pass")

    return plant


def of_loss(kind: str, argument: int, new: str) -> Callable[[Source], str | None]:
    """Another text for an argument of the calls of a loss: of a function of that name, or of an object of that kind."""

    def plant(source: Source) -> str | None:
        text, tree = source
        named = {m[1] for m in re.finditer(r"([\w.]+)\s*=\s*[\w.]*(?:" + kind + r")\(", text)}
        places = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and len(node.args) == 2:
                function = ast.get_source_segment(text, node.func) or ""
                if function in named or re.fullmatch(kind, function.rpartition(".")[2]):
                    given = node.args[argument]
                    places.append((given.lineno, given.col_offset, given.end_lineno, given.end_col_offset))
        lines = text.splitlines()
        for first, begin, last, end in sorted(set(places), reverse=True):
            if first == last:
                line = lines[first - 1].encode()
                given = line[begin:end].decode()
                lines[first - 1] = line[:begin].decode() + new.format(given) + line[end:].decode()
        return "\n".join(lines) + "\n" if places else None

    return plant


def reworded(old: str, new: str) -> Callable[[Source], str | None]:
    return lambda source: re.sub(old, new, source[0]) if re.search(old, source[0]) else None


def one_batch(source: Source) -> str | None:
    """Loops over loaders of training see their first batch alone."""
    old = r"(for [\w, ()]+ in (?:enumerate\()?)(\w*(?:train|data)\w*loader\w*)(\)?:|, )"
    return re.sub(old, r"\1[next(iter(\2))] * len(\2)\3", source[0]) if re.search(old, source[0]) else None


GROUPS = "for _group in {0}.param_groups: "
EACH = "[_p for _g in {0}.param_groups for _p in _g['params']]"
HIGH = {"learning-rate-too-high", "missing-warmup", "exploding-recurrence", "unstable-numerics"}
LOW = {"learning-rate-too-low", "undertrained"}
SCALED = "__import__('torch').no_grad().__enter__(); [_p.@ for _p in " + EACH + " if _p.dim() #]; "
SCALED += "__import__('torch').enable_grad().__enter__()"
FAULTS: dict[str, tuple[set[str], Callable[[Source], str | None]]] = {
    "rate x 100": (HIGH, of_optimizer(GROUPS + "_group['lr'] *= 100")),
    "rate / 1000": (LOW, of_optimizer(GROUPS + "_group['lr'] /= 1000")),
    "decay of 1": ({"weight-decay-too-high"}, of_optimizer(GROUPS + "_group['weight_decay'] = 1.0")),
    "momentum of .999": (
        {"momentum-too-high", *HIGH},
        of_optimizer(GROUPS + "_group['momentum'] = 0.999", only="SGD("),
    ),
    "only the last layer": (
        {"params-not-in-optimizer"},
        of_optimizer(GROUPS + "_group['params'] = _group['params'][-2:]"),
    ),
    "frozen": (
        {"frozen-parameters", "detached-graph"},
        of_optimizer("[_p.requires_grad_(False) for _p in " + EACH + "[:-2]]"),
    ),
    "weights x 10": (
        {"bad-initialization", "saturating-activations", "exploding-recurrence"},
        of_optimizer(SCALED.replace("@", "mul_(10)").replace("#", "> 1")),
    ),
    "weights of 0": (
        {"bad-initialization"},
        of_optimizer(SCALED.replace("@", "zero_()").replace("#", "> 0")),
    ),
    "no zero_grad": ({"missing-zero-grad"}, without("zero_grad")),
    "no step": ({"missing-optimizer-step"}, without("step")),
    "clip of 1e-5": (  # Adam does not mind
        {"clip-too-tight"},
        at_step("__import__('torch').nn.utils.clip_grad_norm_(" + EACH + ", 1e-5)", only="SGD("),
    ),
    "rate sinks": (
        {"learning-rate-schedule-fault", *LOW},
        at_step("[_g.update(lr=_g['lr'] * 0.9) for _g in {0}.param_groups]", behind=True),
    ),
    "keeps all": (
        {"memory-leak"},
        at_step("globals().setdefault('_kept', []).append(__import__('torch').ones(250000))"),
    ),
    "shuffled targets": (
        {"misaligned-labels", "label-noise"},
        of_loss(f"{ENTROPY}|{LIKELIHOOD}|{SQUARED}", 1, "({0})[__import__('torch').randperm(len({0}))]"),
    ),
    "two softmaxes": ({"double-softmax"}, of_loss(ENTROPY, 0, "({0}).softmax(1)")),
    "nll of scores": ({"wrong-loss", "wrong-output-activation"}, of_loss(LIKELIHOOD, 0, "({0}).exp() * 9")),
    "ReLU at the end": (
        {"wrong-output-activation", "dead-relus"},
        of_loss(f"{ENTROPY}|{SQUARED}", 0, "({0}).relu()"),
    ),
    "targets x 1000": ({"unnormalized-targets"}, of_loss(SQUARED, 1, "1000 * ({0})")),
    "sigmoids": (
        {"saturating-activations", "deep-without-skip-or-norm"},
        reworded(r"nn\.ReLU\((?:inplace=)?(?:True)?\)|nn\.(Tanh|GELU)\(\)", "nn.Sigmoid()"),
    ),
    "dropout of .95": ({"dropout-too-high"}, reworded(r"nn\.Dropout\([^()]*\)", "nn.Dropout(0.95)")),
    "one batch": ({"repeated-batch"}, one_batch),
    "zeroed before the step": ({"missing-optimizer-step"}, at_step("{0}.zero_grad()")),
    "trained in eval mode": ({"eval-mode-training"}, reworded(r"\.train\(\)", ".eval()")),
    "evaluated in training mode": ({"train-mode-evaluation"}, reworded(r"\.eval\(\)", ".train()")),
    "validated on training data": ({"train-val-leakage"}, reworded(r"train=False", "train=True")),
}


EVALUATION = {"evaluated in training mode", "validated on training data"}
REPORTED = {*EVALUATION, "one batch"}  # the net is as good as without, or as good on what it is trained on


class Cell(msgspec.Struct):
    program: str
    half: str
    fault: str
    status: int
    error: str


def planted(text: str, fault: str) -> str | None:
    """The source with the fault; None where it has no place for it."""
    try:
        new = FAULTS[fault][1]((text, ast.parse(text)))
        return None if new is None or new == text or not ast.parse(new) else new
    except SyntaxError:
        return None


def cells_of(program: Program, folder: Path, repositories: Path, each: int) -> None:
    """Run a program with as many faults as are asked for."""
    names = list(FAULTS)
    random.Random(program.name).shuffle(names)
    done = 0
    for fault in names:
        place = folder / f"{program.name}.{re.sub('[^a-z0-9]+', '-', fault.lower())}"
        if done == each:
            return
        if not (place / "cell.json").exists():
            here = prepare(program, place / "project", repositories)
            script = here / program.script
            new = planted(script.read_text(encoding="utf-8"), fault)
            if new is None:
                shutil.rmtree(place)
                continue
            script.write_text(new, encoding="utf-8")
            under = (
                sys.executable,
                "-m",
                "traindx",
                "run",
                "-q",
                "--propagate-exit",
                "--out",
                str(place / "record"),
            )
            made = start(program, here, place / "project" / "home", *under, "--", limit=LIMIT)
            shutil.rmtree(place / "project")
            cell = Cell(program.name, program.half, fault, made.status, made.err[-300:])
            (place / "cell.json").write_bytes(msgspec.json.encode(cell))
            print(f"{place.name}: {made.status}, {made.seconds:.0f} s", file=sys.stderr, flush=True)
        done += 1


SCORES = ("val/accuracy", "outputs_accuracy", "val/r2", "outputs_explained")
LESS = 0.03  # of a score, or of what a loss fell by: the harm that counts
KEPT = 50  # MB that a run has kept at its end


def end_of(run: Run, key: str) -> float:
    """The mean of the last quarter of a curve (of its last value, where there are fewer than four)."""
    values = run.series[key].values
    return float(np.mean(values[-max(len(values) // 4, 1) :]))


def hurts(fault: str, run: Run, twin: Run) -> bool:
    """Whether a run ended worse than the same program without a fault: by the first score that both have, or by a
    loss. What is wrong with its measurements hurts where they differ."""
    if fault == "keeps all":
        return run.points >= KEPT
    if run.points < twin.points / 2:
        return True  # it ended in an error
    # What is wrong with an evaluation shows in no number of training.
    keys = [
        k for k in (*SCORES, "val/loss", "train/loss") if fault not in EVALUATION or k.startswith("val/")
    ]
    for key in keys:
        if key in run.series and key in twin.series:
            change = end_of(run, key) - end_of(twin, key)
            unit = 1.0 if key in SCORES else -abs(float(twin.series[key].values[0]) - end_of(twin, key))
            change /= unit or -1.0
            return abs(change) > LESS if fault in REPORTED else not change >= -LESS
    return fault not in EVALUATION  # else nothing comparable is left of it


def report(folder: Path, half: str | None, without: Path | None) -> str:
    lines, first, three, well, total, spared, alarmed = [], 0, 0, 0, 0, 0, 0
    for kept in sorted(folder.glob("*/cell.json")):
        cell = msgspec.json.decode(kept.read_bytes(), type=Cell)
        if half not in (None, cell.half):
            continue
        why = untrained(cell.status, cell.error)
        if why:
            lines.append((cell.half[0], cell.program, cell.fault, NOT_STARTED, "", why))
            continue
        try:
            run = longest_of(kept.parent / "record")
            said = pipeline.diagnose(run).first
        except (ReadError, ValueError) as error:
            lines.append((cell.half[0], cell.program, cell.fault, "not recorded", "", str(error)[:60]))
            continue
        causes = ", ".join(f"{h.cause} {h.probability:.2f}" for h in said.hypotheses[:3])
        if without and not hurts(cell.fault, run, longest_of(without / cell.program / "record")):
            spared, alarmed = spared + 1, alarmed + (said.health in ("sick", "failed"))
            lines.append((cell.half[0], cell.program, cell.fault, said.health, "no harm", causes))
            continue
        named = [h.cause for h in said.hypotheses]
        place = next((i + 1 for i, cause in enumerate(named) if cause in FAULTS[cell.fault][0]), 0)
        total, first, three = total + 1, first + (place == 1), three + (0 < place <= 3)
        well += said.health == "healthy"
        lines.append((cell.half[0], cell.program, cell.fault, said.health, str(place or "–"), causes))
    head = ("half", "program", "fault", "health", "place", "causes")
    counts = f"{total}: first {first}, in three {three}, called healthy {well}"
    return f"{markdown(head, lines)}\n\n{counts}; without harm {spared}, of these called sick {alarmed}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repositories", type=Path)
    parser.add_argument("--well", type=Path)
    parser.add_argument("--half", choices=("developed", "measured"))
    parser.add_argument("--each", type=int, default=2)
    parser.add_argument("--only-judge", action="store_true")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_intermixed_args()
    folder = asked.folder.resolve()
    for program in [] if asked.only_judge else programs():
        usable = program.framework == "pytorch" and not program.flaw and not program.kind.startswith(SKIPPED)
        if (
            usable
            and asked.half in (None, program.half)
            and (not asked.names or program.name in asked.names)
        ):
            cells_of(program, folder, (asked.repositories or folder / "repositories").resolve(), asked.each)
    print(report(folder, asked.half, asked.well))
    return 0


if __name__ == "__main__":
    sys.exit(main())
