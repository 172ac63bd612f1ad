"""What losses get: logits, weights of classes, smoothed labels."""

from traindx.capture.torch.alter.api import (
    Any,
    Callable,
    Script,
    Site,
    applies,
    functional,
    script_of,
    torch,
)
from traindx.capture.torch.alter.calls import LossCall
from traindx.capture.torch.alter.labels import known_labels

MARK = "_traindx_scores"  # attribute of a tensor of probabilities
LOOKED_AT = 5  # losses whose inputs are looked at where their origin was not seen
SUM = 1e-3  # by which the probabilities of a row may miss 1
CLASSES = ("cross_entropy", "nll_loss")
BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
MOST = 100_000  # classes that are counted


@applies("logits", unused="no cross-entropy got probabilities")
def logits(site: Site, _value: str) -> None:
    Logits(site, script_of(site))


@applies("class_weights", unused="the classes are balanced")
def class_weights(site: Site, _value: str) -> None:
    script = script_of(site)
    script.needs_loss(site, CLASSES + BINARY, "a cross-entropy")
    Balance(site, script)


@applies("label_smoothing")
def label_smoothing(site: Site, share: float) -> None:
    script = script_of(site)
    script.needs_loss(site, CLASSES + BINARY, "a cross-entropy")
    script.on_loss(site, 7, lambda call: smooth_labels(site, call, share))
    site.unused = f"the labels are already smoothed by {share:g}"


class Logits:
    """Remembers of the results of softmax and sigmoid what they were made of."""

    def __init__(self, site: Site, script: Script) -> None:
        self.site = site
        self.looked = self.found = 0
        for owner in (functional, torch, torch.Tensor):
            site.wrap(owner, "softmax", self.remember("softmax"))
        for owner in (torch, torch.Tensor):
            site.wrap(owner, "sigmoid", self.remember("sigmoid"))
        script.on_loss(site, 5, self.undo)

    def remember(self, kind: str) -> Callable[..., Any]:
        def hook(original: Callable[..., Any], *args: Any, **named: Any) -> Any:
            found = original(*args, **named)
            scores = args[0] if args else named.get("input", named.get("self"))
            if isinstance(scores, torch.Tensor) and isinstance(found, torch.Tensor):
                setattr(found, MARK, (kind, scores, scores._version, found._version))
            return found

        return hook

    def scores(self, given: torch.Tensor) -> tuple[str, torch.Tensor | None]:
        """Kind and scores that were made into these probabilities; also of a view of all of them."""
        for source in (given, given._base):
            mark = getattr(source, MARK, None)
            if mark is None or source is None:
                continue
            kind, scores, *versions = mark
            if versions != [scores._version, source._version] or scores.dtype != given.dtype:
                continue  # overwritten since then
            if source is given:
                return kind, scores
            if source.numel() == given.numel() and given.is_contiguous() and source.is_contiguous():
                return kind, scores.reshape(given.shape)
        return "", None

    def undo(self, call: LossCall) -> None:
        kind, scores = self.scores(call.input)
        if kind == "softmax" and scores is not None and call.name.startswith("binary") and width(scores) > 1:
            return  # several classes in a loss of two: another fault
        if call.name in ("cross_entropy", "nll_loss"):
            if scores is None and self.looks_like_probabilities(call.input):
                scores = call.input.clamp_min(torch.finfo(call.input.dtype).tiny).log()
            if scores is not None and not (call.name == "nll_loss" and kind == "sigmoid"):
                axis = 1 if scores.dim() > 1 else 0
                call.input = scores if call.name == "cross_entropy" else functional.log_softmax(scores, axis)
                self.site.touched("losses")
        elif call.name.startswith("binary_cross_entropy") and scores is not None:
            call.name, call.input = "binary_cross_entropy_with_logits", scores
            self.site.touched("losses")

    def looks_like_probabilities(self, given: torch.Tensor) -> bool:
        """Where nothing is known of their origin: all in 0..1, and the classes sum to 1."""
        if given.dim() < 2 or given.shape[1] < 2 or not given.is_floating_point() or given.numel() == 0:
            return False
        if self.looked >= LOOKED_AT and not self.found:
            return False
        self.looked += 1
        with torch.no_grad():
            low, high = given.min(), given.max()
            found = bool((low >= 0) & (high <= 1) & ((given.sum(1) - 1).abs().max() < SUM))
        self.found += found
        return found


def width(scores: torch.Tensor) -> int:
    return scores.shape[1] if scores.dim() > 1 else 1


def smooth_labels(site: Site, call: LossCall, share: float) -> None:
    """Move a share of each label's weight evenly to all classes, in training."""
    if not call.training:
        return
    if call.name == "cross_entropy":
        if call.options.get("label_smoothing", 0.0) != share:
            call.options["label_smoothing"] = share
            site.touched("losses")
    elif share and call.name in BINARY:
        call.target = call.target * (1 - share) + share / 2
        site.touched("losses")
    elif share and call.name == "nll_loss":
        if call.options.get("weight") is not None:
            site.refuse("the script's nll_loss has its own class weights")
        uniform = spread_loss(call)
        call.after.append(lambda value: (1 - share) * value + share * uniform)
        site.touched("losses")


def spread_loss(call: LossCall) -> torch.Tensor:
    """What `nll_loss` would be if all classes were equally the label."""
    each = -call.input.mean(1 if call.input.dim() > 1 else 0)
    kept = call.target != call.options.get("ignore_index", -100)
    each = torch.where(kept, each, torch.zeros_like(each))
    reduction = call.options.get("reduction", "mean")
    if reduction == "none":
        return each
    return each.sum() / kept.sum() if reduction == "mean" else each.sum()


class Balance:
    """Weights n / (classes * count), in a binary loss negatives / positives of the positive labels (as `pos_weight`
    has it), by the labels of the data set where they can be read, else by those
    seen so far in training."""

    def __init__(self, site: Site, script: Script) -> None:
        self.site, self.script = site, script
        self.counts: torch.Tensor | None = None
        self.whole = False  # the counts are those of the whole data set
        self.binary: torch.Tensor | None = None  # positive and negative labels so far, by column
        script.on_loader(site, self.read)
        script.on_loss(site, 6, self.weigh)

    def read(self, loader: Any) -> None:
        labels = known_labels(loader.dataset)
        if labels is None or labels.dim() != 1 or labels.is_floating_point() or not len(labels):
            return
        if int(labels.min()) >= 0 and int(labels.max()) < MOST:
            self.counts, self.whole = torch.bincount(labels).double(), True

    def weigh(self, call: LossCall) -> None:
        if not call.training:
            return
        if call.name in CLASSES and not call.target.is_floating_point():
            weights = self.of_classes(call)
            if weights is not None:
                call.options["weight"] = weights.to(call.input)
                self.site.touched("losses")
        elif call.name in BINARY:
            share = self.positives(call.target)
            if bool((share != 0.5).any()):
                share = share.to(call.input)
                call.options["weight"] = torch.where(call.target > 0.5, (1 - share) / share, 1.0)
                call.options.pop("pos_weight", None)
                self.site.touched("losses")

    def of_classes(self, call: LossCall) -> torch.Tensor | None:
        classes = call.input.shape[1 if call.input.dim() > 1 else 0]
        if classes > MOST:
            self.site.refuse(f"there are {classes} classes")
        target = call.target.reshape(-1)
        target = target[
            (target != call.options.get("ignore_index", -100)) & (target >= 0) & (target < classes)
        ].cpu()
        if not self.whole or self.counts is None or len(self.counts) > classes:
            seen = torch.bincount(target, minlength=classes).double()
            known = self.counts is not None and not self.whole and len(self.counts) == classes
            self.counts, self.whole = (
                (self.counts + seen if known and self.counts is not None else seen),
                False,
            )
        counts = torch.zeros(classes, dtype=torch.float64)
        counts[: len(self.counts)] = self.counts
        there = counts > 0
        if int(counts.max()) == int(counts[there].min()):
            return None
        weights = counts.sum() / (int(there.sum()) * counts)
        return torch.where(there, weights, torch.ones_like(weights))

    def positives(self, target: torch.Tensor) -> torch.Tensor:
        """Share of positive labels so far, of each column of a table of labels."""
        rows = (
            target.detach().reshape(len(target), -1) if target.dim() == 2 else target.detach().reshape(-1, 1)
        )
        found = torch.stack([(rows > 0.5).sum(0), (rows <= 0.5).sum(0)]).double().cpu()
        same = self.binary is not None and self.binary.shape == found.shape
        self.binary = self.binary + found if same and self.binary is not None else found
        share = self.binary[0] / self.binary.sum(0)
        return torch.where((share > 0) & (share < 1), share, torch.full_like(share, 0.5))
