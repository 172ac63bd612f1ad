"""Give every column of a log its canonical name, once all of them are known."""

from collections.abc import Mapping

import numpy as np

from traindx.errors import ConfigError
from traindx.features.adversarial import MEASURES, is_duel, is_term
from traindx.features.statistics import median
from traindx.readers.names.aliases import (
    TRAIN_WORDS,
    VAL_WORDS,
    Role,
    role_of,
    split_of,
    word_set,
    words_of,
)
from traindx.readers.names.by_shape import both_ends, falls, is_likelihood, lone_unknown, role_by_shape
from traindx.readers.names.modules import by_layer
from traindx.readers.raw import RawColumn, RawLog
from traindx.vocabulary import QUANTIZED, UNQUANTIZED, direction_of

# Two players, each with its own loss: their sum means nothing.
ADVERSARIAL = word_set("g d gen dis disc generator discriminator critic actor policy value adv gan")
# Losses of the heads of a detector, as its progress lines head them.
DETECTOR_PARTS = frozenset({"box", "obj", "cls", "dfl", "giou", "seg", "pose", "kobj", "conf", "xy", "wh"})
# Used as the loss where none is logged; the order is the preference.
LOSS_LIKE = (
    "loss",
    "logloss",
    "nll",
    "cross_entropy",
    "crossentropy",
    "entropy",
    "xent",
    "mse",
    "rmse",
    "rmsle",
    "rmspe",
    "mae",
    "l1",
    "l2",
    "bpb",
    "bpd",
    "bpc",
    "perplexity",
    "error",
    "objective",
    "cost",
    "elbo",
    "merror",
    "huber",
)
ENTROPIES = frozenset({"ce", "bce"})  # what ends in these letters may be a distance
# Distances, which next to a loss may be of another size.
ERRORS = ("mse", "rmse", "rmsle", "rmspe", "mae", "l1", "l2", "error")
# Of those that stand in for a loss, these are likely not the one that is trained.
DOUBTFUL = frozenset({"loss", "entropy", "perplexity", "error", "objective", "merror"})
UNNAMED = ("value", *(f"c{i}" for i in range(10)))
LOSSES = ("train/loss", "val/loss")
RETRIEVAL = frozenset({"p", "precision", "f1"})  # next to one of these, R is a recall and no reward
FEW = 2  # points, which are no curve where another name of the same signal has one
SHORT = 10  # points, too few for a verdict where another name of the same signal has many more
MORE = 5  # times as many
APART = (
    3.0  # times, by which the same measure rarely differs on both sides of the data at the first evaluation
)
ROUNDED = 0.01  # of a mean, by which it differs from that of the rounded values that were printed
SMOOTH = frozenset({"smoothl1", "smooth_l1", "huber", "l1", "l2"})


def assign(raw: RawLog, given: Mapping[str, str]) -> dict[str, str]:
    """Canonical name -> column. `given` (canonical -> column) is the user's word and wins; a
    column named there that does not exist is an error naming those that do."""
    for canonical, wanted in given.items():
        if wanted not in raw.columns and not any(wanted in c for c in raw.columns):
            names = ", ".join(sorted(raw.columns)[:20])
            raise ConfigError(f"--map {canonical}={wanted}: no column {wanted!r}; there are: {names}")
    chosen = {c: w for c, w in given.items() if w in raw.columns}
    taken = set(chosen.values())
    fixed_roles = bare_sides(raw) | prefixed_twins(raw) | by_layer(raw.columns, raw.units) | raw.roles
    offers = [(fixed_roles.get(name), name) for name in raw.columns if name not in taken]
    duel = is_duel(raw.columns)
    retrieves = bool(RETRIEVAL & {name.lower() for name in raw.columns})
    ranked = [
        (Role(fixed, -1) if fixed is not None else in_context(name, duel=duel, retrieves=retrieves), i, name)
        for i, (fixed, name) in enumerate(offers)
    ]
    for role, _, name in by_fit(ranked, raw):
        if not role.signal or name == raw.axis:
            continue
        wanted = evaluation_name(role.signal, name, raw)
        if wanted == "time/step" and "trial" in words_of(raw.axis or ""):
            wanted = "time/trial"  # a search trains a model in each
        if wanted == "train/loss" and wanted in chosen and is_evaluation(name, chosen, raw):
            wanted = "val/loss"
        chosen[wanted if wanted not in chosen else second_name(wanted, name, chosen)] = name
    if not any("loss" in name for name in chosen) and score_is_loss(chosen, raw):
        chosen["train/loss"] = chosen.pop("train/score")
    lone = lone_unknown(chosen, raw)
    shaped = role_by_shape(raw.columns[lone].values, counted=falls(raw.columns[lone].values)) if lone else ""
    if shaped:  # what rises without settling could be anything
        chosen[shaped] = chosen.pop(lone)
    return likelihoods_named(promote(chosen, raw), given, raw)


LIKELIHOOD = "log_likelihood"


def likelihoods_named(chosen: dict[str, str], given: Mapping[str, str], raw: RawLog) -> dict[str, str]:
    """The names, where the errors of both splits are log-likelihoods by their shape: higher is better."""
    both = [n for n in LOSSES if n in chosen and n not in given]
    if len(both) == len(LOSSES) and all(is_likelihood(raw.columns[chosen[n]].values) for n in both):
        for name in both:
            chosen[name.replace("loss", LIKELIHOOD)] = chosen.pop(name)
    return chosen


ERROR_SCORES = frozenset({"wer", "cer", "ter", "eer", "error_rate", "mae", "rmse", "mape", "smape"})
FALLEN = 0.9  # of its first level, below which a score fell


def score_is_loss(chosen: Mapping[str, str], raw: RawLog) -> bool:
    """Whether what is called a score falls while an accuracy or an F1 does not (DL4J calls its loss so)."""
    if "train/score" not in chosen:
        return False
    others = [n for n in chosen if n not in ("train/score", "val/score") and direction_of(n) == "higher"]
    ends = {n: both_ends(raw.columns[chosen[n]].values) for n in (*others, "train/score")}
    first, last = ends.pop("train/score")
    return last < FALLEN * first and any(late >= early for early, late in ends.values())


def bare_sides(raw: RawLog) -> dict[str, str]:
    """The roles of columns that name a side and nothing else (`Train`, `Test`): scores where the training one rises
    between 0 and 1, else losses if no loss is named."""
    names = [n for n in raw.columns if n != raw.axis]
    sided = {n: {*words_of(n)} - {"l"} for n in names}  # `trn_L`, `tst_L`
    bare = [n for n, words in sided.items() if words and words <= TRAIN_WORDS | VAL_WORDS]
    sides = {split_of(words_of(n)): n for n in sorted(bare, key=lambda n: "test" not in sided[n])}
    losses = [n for n in names if role_of(n).signal in LOSSES]
    if len(losses) == 1 and sides.keys() == {"val"} and role_of(losses[0]).signal == "train/loss":
        if rises_as_share(sides["val"], raw):
            return {sides["val"]: "val/score"}  # `loss = 2.34  eval = 0.12`
        pair = {"train/loss": losses[0], "val/loss": sides["val"]}  # `loss=2.42  val=1.30`
        return {sides["val"]: "val/loss"} if starts_alike(pair, "val/loss", raw) else {}
    scores = {"train", "val"} <= sides.keys() and rises_as_share(sides["train"], raw)
    if not {"train", "val"} <= sides.keys() or (losses and not scores):
        return bare_total(names) if not losses else {}
    what = "score" if scores else "loss"
    tests = {n: f"val/test_{what}" for n in bare if "test" in sided[n]}
    return tests | {name: f"{side}/{what}" for side, name in sides.items() if side}


def rises_as_share(name: str, raw: RawLog) -> bool:
    """Whether a column rises from first to last and stays between 0 and 1, or between 0 and 100 %, as a score does."""
    values, most = raw.columns[name].values, 100 if raw.units.get(name) == "%" else 1
    known = values[np.isfinite(values)]
    return bool(len(known) > FEW and 0 <= known.min() <= known.max() <= most and known[-1] > known[0])


def bare_total(names: list[str]) -> dict[str, str]:
    """The role of a `Total` next to two parts of a loss (`Rec`, `KL`), where no loss is named."""
    parts = [n for n in names if set(words_of(n)) & TERMS]
    totals = [n for n in names if words_of(n) == ["total"]]
    return {totals[0]: "train/loss"} if len(parts) > 1 and len(totals) == 1 else {}


def prefixed_twins(raw: RawLog) -> dict[str, str]:
    """The roles of `v_loss`, `v_recons` ... next to `loss`, `recons` ...: the same measures on validation data. A
    single one may be the loss of an agent's value network."""
    twins = [n for n in raw.columns if n.startswith("v_") and n.removeprefix("v_") in raw.columns]
    return {n: role_of(f"val_{n.removeprefix('v_')}").signal for n in twins} if len(twins) >= FEW else {}


def shorten_sum(column: str, *, most: int = 4) -> str:
    """A sum of columns by its first and its last, where there are more than `most` of them."""
    parts = column.split(" + ")
    return column if len(parts) <= most else f"{parts[0]} + … + {parts[-1]}"


def describe_doubt(named: Mapping[str, tuple[RawColumn, str]], given: Mapping[str, str], raw: RawLog) -> str:
    """A sentence on the losses whose columns do not say that they are the loss, "" for none."""
    doubts, why = {}, ""
    shaped = ("train/score", *(name.replace("loss", LIKELIHOOD) for name in LOSSES))
    for signal in [s for s in (*LOSSES, *shaped) if s in named and s not in given]:
        original = named[signal][1]
        unnamed = original.lower() in UNNAMED
        meant = "" if unnamed else raw.roles.get(original) or role_of(original).signal
        last = meant.rpartition("/")[2].lower()
        sure = meant == signal or last.endswith(tuple(w for w in LOSS_LIKE if w not in DOUBTFUL))
        below = signal.endswith(LIKELIHOOD) and LIKELIHOOD not in meant
        if unnamed or below or (signal in LOSSES and not sure):
            column = f"numbers without a name ({original})" if unnamed else f'"{shorten_sum(original)}"'
            doubts[signal] = f"{signal} is read from {column}"
            why = ", which are below 0 and rise" if below else why
    if not doubts:
        return ""
    return (
        f"{' and '.join(doubts.values())}{why}; if that is wrong, name the column: --map {min(doubts)}=NAME"
    )


def by_fit(offers: list[tuple[Role, int, str]], raw: RawLog) -> list[tuple[Role, int, str]]:
    """(role, place, column) of all columns, those first that fit their signal best."""
    points = {name: len(column.values) for name, column in raw.columns.items()}
    most: dict[str, int] = {}
    for role, _, name in offers:
        most[role.signal] = max(points[name], most.get(role.signal, 0))

    def order(offer: tuple[Role, int, str]) -> tuple[bool, int, int, int]:
        role, place, name = offer
        # A final `test_loss` is no rival of the `val_loss` of every epoch, nor the means of three epochs of
        # the losses of all their steps.
        own, rivals = points[name], most[role.signal]
        lone = own <= FEW < rivals / 2 or own < SHORT <= rivals >= MORE * own
        return lone, role.rank, -points[name] if role.rank > 0 else 0, place

    return sorted(offers, key=order)


def in_context(name: str, *, duel: bool, retrieves: bool) -> Role:
    """The role of a column by its name and by what is logged with it: `D_A` and `cycle_A` are losses where two
    nets play against each other, `R` is a recall where a precision or F1 is logged."""
    role = role_of(name)
    if retrieves and name.lower() == "r":
        return Role("train/recall", 5)
    if not duel or role.signal != name or not is_term(name):
        return role
    words = [w for w in words_of(name) if w != "loss"]
    return Role(f"{split_of(words) or 'train'}/{'_'.join(words)}_loss", 5)


def evaluation_name(signal: str, name: str, raw: RawLog) -> str:
    """`val/...` for a score that names no split, where it is logged with losses that all name theirs
    (fastai's tables), or is there on half of the loss's rows at most: what is measured only now and
    then is an evaluation."""
    score = direction_of(signal) == "higher" or signal.rpartition("/")[2].lower() in ERROR_SCORES
    if not signal.startswith("train/") or not score or split_of(words_of(name)):
        return signal
    losses = {
        n: c
        for n, c in raw.columns.items()
        if n != raw.axis and role_of(n).signal in ("train/loss", "val/loss")
    }
    splits = {split_of(words_of(n)) for n in losses}
    unnamed = splits == {"train", "val"} and not any(
        split_of(words_of(n)) == "val" for n in raw.columns if n not in losses
    )
    longest = max((len(c.rows) for n, c in losses.items() if role_of(n).signal == "train/loss"), default=0)
    if unnamed or 2 * len(raw.columns[name].rows) <= longest:
        return "val/" + signal.removeprefix("train/")
    return signal


def is_evaluation(name: str, chosen: Mapping[str, str], raw: RawLog) -> bool:
    """Whether a second loss that names no split is measured occasionally, next to the first (`Avg loss`
    under a heading that says so)."""
    if "val/loss" in chosen or split_of(words_of(name)) or "epoch" in words_of(name):
        return False
    rare, often = raw.columns[name], raw.columns[chosen["train/loss"]]
    return 2 * len(rare.rows) <= len(often.rows) and not is_mean_of(rare, often)


def is_mean_of(rare: RawColumn, often: RawColumn) -> bool:
    """Whether a column holds the means of another over the rows since its last value, as an epoch's mean of its batches."""
    edges = np.searchsorted(often.rows, rare.rows, side="right")
    parts = [often.values[a:b] for a, b in zip((0, *edges[:-1]), edges, strict=True)]
    off = [abs(float(np.mean(p)) / v - 1) for p, v in zip(parts, rare.values, strict=True) if len(p) and v]
    return bool(off) and float(median(np.array(off))) < ROUNDED


def second_name(signal: str, name: str, chosen: Mapping[str, str]) -> str:
    """Another name for a column whose signal is taken: its own words, made unique."""
    split = signal.split("/")[0] + "/" if "/" in signal and signal.split("/")[0] in ("train", "val") else ""
    own = name if name.startswith(split) else split + name
    while own in chosen:
        own += "'"
    return own


def promote(chosen: dict[str, str], raw: RawLog) -> dict[str, str]:
    """Where no loss is named as such, the metric that plays its part gets the name: the only
    one that ends in `loss`, or a known error measure that both splits share. Next to the loss of the other
    split, an error of another size is another measure."""
    if any(n in chosen for n in ("train/loss", "val/loss")):
        split = "val" if "train/loss" in chosen else "train"
        if f"{split}/loss" in chosen:
            return chosen
        splits: tuple[str, ...] = (split,)
    else:
        splits = ("train", "val")
    measure = ""
    policy = any("rew" in n or "return" in n or "critic" in n for n in chosen)  # its entropy is no loss
    for split in splits:
        candidates = [n for n in chosen if n.startswith(split + "/") and is_loss_like(n)]
        candidates = [n for n in candidates if not (policy and n.endswith("entropy"))]
        single = [n for n in candidates if n.endswith("loss")]
        if len(candidates) > 1 and len(single) == 1:
            candidates = single
        if len(candidates) > 1:
            candidates = sorted(candidates, key=loss_preference)[:1] if not single else []
        if len(candidates) == 1 and not is_adversarial(candidates[0]):
            last = candidates[0].rpartition("/")[2]
            if measure and last != measure and not (last.endswith("loss") and measure.endswith("loss")):
                continue  # a reconstruction's cost and a classifier's error are no pair
            if last.endswith(ERRORS) and not starts_alike(chosen, candidates[0], raw):
                continue
            chosen[f"{split}/loss"], measure = chosen.pop(candidates[0]), last
    return chosen


def starts_alike(chosen: Mapping[str, str], candidate: str, raw: RawLog) -> bool:
    """Whether an error begins about where the loss of the other split does, if that is there."""
    other = "train/loss" if candidate.startswith("val/") else "val/loss"
    if other not in chosen:
        return True
    first, rival = (both_ends(raw.columns[chosen[name]].values)[0] for name in (candidate, other))
    return not (first > APART * rival > 0 or rival > APART * first > 0)


def is_loss_like(name: str) -> bool:
    last = name.split("/")[-1].lower()
    known = direction_of(name) == "lower" or last in SMOOTH
    return known and (last in ENTROPIES or any(last == w or last.endswith(w) for w in LOSS_LIKE))


def loss_preference(name: str) -> int:
    last = name.split("/")[-1].lower()
    last = "cross_entropy" if last in ENTROPIES else last
    return next(i for i, w in enumerate(LOSS_LIKE) if last == w or last.endswith(w))


def is_adversarial(name: str) -> bool:
    return bool(ADVERSARIAL & set(words_of(name.split("/")[-1])))


WEIGHTED = frozenset({"kl", "kld", "kldiv", "mmd"})
# Parts of a loss by their usual short names.
TERMS = WEIGHTED | MEASURES | frozenset({"bce", "ce", "nll", "cls", "reg", "box", "obj", "dice"})
SIMILARITIES = frozenset({"psnr", "ssim", "snr", "sdr", "sisnr"})  # called losses, and better when higher


def summed_losses(chosen: Mapping[str, str], raw: RawLog) -> dict[str, tuple[RawColumn, str]]:
    """Totals that the log leaves out: for a split with several part losses on the same rows (`box_loss`,
    `cls_loss` ... or a detector's bare `box`, `obj`, `cls`) and no total, their sum and its description."""
    totals = {}
    for split in ("train", "val"):
        if f"{split}/loss" in chosen:
            continue
        named = [n for n in chosen if n.startswith(split + "/") and "loss" in n.split("/")[-1].lower()]
        named = [p for p in named if not SIMILARITIES & set(words_of(p.split("/")[-1]))]
        words = {word for part in named for word in words_of(part.split("/")[-1])}
        if (
            any(map(is_adversarial, named))
            or words & WEIGHTED
            or (words & QUANTIZED and words & UNQUANTIZED)
        ):
            # Players have no total, a divergence enters with a weight that the log does not report, and a loss with
            # quantization is that without it, measured again.
            continue
        bare = [
            n
            for n in chosen
            if split == "train" and n.lower() in DETECTOR_PARTS and not raw.roles.get(chosen[n])
        ]
        parts = parts_logged_together(named if len(named) > 1 else bare, chosen, raw)
        if len(parts) < 2:
            continue
        columns = [raw.columns[chosen[p]] for p in parts]
        first = columns[0]
        with np.errstate(over="ignore", invalid="ignore"):  # infinities of both signs
            total = RawColumn(
                np.sum([c.values for c in columns], axis=0), first.rows, first.steps, first.times
            )
        totals[f"{split}/loss"] = (total, " + ".join(chosen[p] for p in parts))
    return totals


def parts_logged_together(parts: list[str], chosen: Mapping[str, str], raw: RawLog) -> list[str]:
    """Those of the parts that are logged in the same rows, where most of them are."""
    groups: dict[tuple[int, bytes], list[str]] = {}
    for part in parts:
        rows = raw.columns[chosen[part]].rows
        groups.setdefault((len(rows), rows.tobytes()), []).append(part)
    return max(groups.values(), key=len, default=[])
