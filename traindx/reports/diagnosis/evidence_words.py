"""What a piece of evidence says, in words: a rule that fired or did not, a fact, or what a run is like on a scale."""

from collections.abc import Iterable

from traindx.vocabulary import EvidenceTerm, RunDiagnosis

ABOUT = (
    "A number says how much a sign speaks for (+) or against (-) a cause: 0.7 doubles or halves its odds."
)

# What each scale of the causes grades, where its name does not say it.
MEASURED = {
    "loss-fall": "how far the loss fell",
    "loss-speed": "when the loss had fallen half of its way",
    "loss-noise": "noise of the loss, against its fall",
    "loss-leap": "jump of the loss above its start",
    "loss-lost": "share of the fall that the loss lost again",
    "loss-tail": "loss in the last quarter",
    "loss-start": "first loss, against guessing",
    "loss-end": "loss at the end, against guessing",
    "loss-first": "size of the first loss",
    "loss-last": "size of the last loss",
    "loss-broken": "when the loss was not finite",
    "loss-tooth": "jumps of the loss at each new epoch",
    "val-first": "first validation loss, against training",
    "val-last": "last validation loss, against training",
    "val-rise": "rise of the validation loss from its best",
    "val-best": "when validation was best",
    "val-fall": "how far the validation loss fell",
    "val-noise": "noise of the validation loss",
    "val-skill": "validation, from guessing to perfect",
    "val-accuracy": "validation accuracy",
    "val-still": "how much validation changes",
    "norm-level": "gradient norm",
    "norm-change": "change of the gradient norm",
    "norm-tail": "largest gradient norms",
    "clip": "what clipping leaves of the gradient",
    "lr-shape": "learning rate over the run",
    "updates-size": "size of the updates",
    "updates-first": "size of the first updates",
    "depth-slope": "gradient of the first layers, against the last",
    "dead-units": "dead units in the worst layer",
    "saturation": "saturated units in the worst layer",
    "rank": "dimensions of the last activations",
    "activation-size": "spread of the last activations",
    "weights-change": "change of the size of the weights",
    "rate": "learning rate, for this optimizer",
    "batch": "batch size",
    "batch-share": "batch size, of the data",
    "updates-made": "updates made",
    "depth": "depth",
    "width": "width of the layers",
    "activation": "activation function",
    "model": "kind of model",
    "inputs-scale": "size of the inputs",
    "inputs-spread": "scales of the input features",
    "targets-scale": "size of the targets",
    "outlier-share": "outliers in inputs or targets",
    "majority": "sizes of the classes",
    "data-size": "training samples",
    "memory": "parameters, for the samples",
    "loss-kind": "what the loss is of",
    "reduction": "reduction of the loss",
    "purity": "classes within a batch",
    "val-shift": "shift of the validation inputs",
    "val-spread": "spread of the validation inputs",
    "overlap": "validation samples that are trained on",
    "repeats": "batches that come again",
    "frozen": "frozen parameters",
    "unheld": "parameters without an optimizer",
    "unreached": "parameters without a gradient",
    "unmoved": "parameters that do not move",
    "uncleared": "steps without zero_grad",
    "eval-steps": "steps in evaluation mode",
    "train-evaluation": "evaluations in training mode",
    "backwards": "backward passes of a step",
    "nonfinite": "where values were first not finite",
    "probabilities": "outputs are probabilities",
    "outputs-from": "activation of the outputs",
    "masked": "negative labels",
    "norm-momentum": "momentum of running statistics",
    "start-low": "smallest initial weights",
    "start-high": "largest initial weights",
    "train-skill": "training batches, from guessing to perfect",
    "train-learning": "progress in the last half",
    "val-over-train": "validation accuracy, against training",
    "contradicted": "labels that contradict each other",
    "one-answer": "one answer for all training samples",
    "val-one-answer": "one answer for all validation samples",
    "loss-unit": "loss, against the cross-entropy of the outputs",
    "beside-simple": "gain, against simple predictors",
    "val-beside-simple": "gain on validation, against simple predictors",
    "simple-solves": "how much simple predictors solve",
    "updates-lost": "weights that rounding keeps as they are",
    "rounded-to": "gradients are rounded to",
    "broken-first": "what was first not finite",
    "alike-units": "units that start alike",
    "grad-cosine": "gradients of two steps",
    "waiting": "waiting for data",
    "step-growth": "time of a step",
    "memory-growth": "memory in use",
}
GRADES = {
    "beside": "about the same", "beyond": "far beyond", "far": "far above", "unit": "about 1", "part": "in part",
    "stands": "not at all", "sticks": "little", "moves": "much", "drowned": "hidden by it", "wild": "very large",
    "rough": "large", "calm": "small", "hasty": "large", "still": "small", "thread": "very narrow",
    "first-row": "from the start", "early-passing": "early, and passing", "late-passing": "late, and passing",
    "lowish": "rather low", "smallish": "rather small", "largish": "rather large",
    "equal": "the same", "upside-down": "larger", "swells": "grows much", "slower": "longer",
    "far-slower": "much longer",
}  # fmt: skip


def seen_slugs(diagnosis: RunDiagnosis) -> frozenset[str]:
    """The rules that fired, and those that would see what the text of a question says."""
    facts = diagnosis.run.setup.get("facts")
    said = str(facts.get("symptoms", "")) if isinstance(facts, dict) else ""
    return frozenset((*(f.slug for f in diagnosis.findings), *filter(None, said.split(","))))


def term_words(term: EvidenceTerm, fired: Iterable[str]) -> str:
    """What a piece of evidence says: a rule that fired by its name, one that did not as "no ...", a fact of the
    setup by its name, a grade as what is graded and its word."""
    slug = term.finding.removeprefix("fact:")
    scale, _, grade = slug.partition("=")
    if grade:
        measured = MEASURED.get(scale, scale.replace("-", " "))
        return f"{measured}: {GRADES.get(grade, grade.replace('-', ' '))}"
    plain, _, aspect = slug.partition(":")
    words = f"{plain} ({aspect})" if aspect else plain
    return words if term.finding.startswith("fact:") or plain in fired else f"no {words}"
