"""LOP016 program-shows-mistake."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, progress_severity, rule

WORDS = {
    "softmax-before-cross-entropy": "puts a softmax before a loss that applies one itself",
    "sigmoid-before-logits-loss": "puts a sigmoid before a loss that applies one itself",
    "softmax-of-one-output": "has a softmax over a single output, which is always 1",
    "binary-loss-for-classes": "uses binary cross-entropy for classes that exclude each other",
    "gradients-not-cleared": "never clears the gradients",
    "cleared-before-step": "clears the gradients between backward and the step",
    "never-steps": "never calls the optimizer's step",
    "loss-made-anew": "wraps the loss in a new tensor, which cuts it off from the model",
    "evaluates-in-train-mode": "evaluates without eval mode",
    "validates-on-training-data": "validates on the training data",
    "inputs-not-scaled": "does not scale the inputs",
    "batches-in-file-order": "does not shuffle the training data",
    "all-layers-frozen": "freezes all layers",
}
OF_MEASUREMENT = ("validates-on-training-data",)  # the model is as it would be without it
OFTEN_HARMLESS = frozenset(("inputs-not-scaled", "batches-in-file-order"))


@rule(
    code="LOP016",
    needs=("setup:mistakes",),
    min_points=0,
    severity="high",
    message="by the question, the program {what}",
)
def program_shows_mistake(run: Run, features: Features) -> Iterator[Evidence]:
    """A pasted program, or the question about it, shows a known mistake.

    ## What it sees
    Source and sentences in pasted text: a softmax or sigmoid before a loss that applies one itself, a softmax over one
    output, binary cross-entropy for exclusive classes, gradients that are never cleared or cleared before the step,
    no step at all, a loss that is wrapped in a new tensor, evaluation without eval mode or on the training data,
    inputs that are not scaled, training data that are not shuffled, all layers frozen. Severity is high unless the run
    learns well, and then medium, low where only the measurement is wrong, or a note where the mistake does no harm.

    ## Why it matters
    Each of these is a frequent reason for the symptoms that people ask about, and one line fixes it.

    ## When it is wrong
    Only a part of the program was pasted: what seems to be missing may be in the rest.

    ## What to try
    Compare the line with the documentation of the loss or the optimizer that it uses.

    ## Sources
    PyTorch documentation, CrossEntropyLoss and Optimizer.zero_grad, https://docs.pytorch.org/docs/stable/nn.html.
    """
    for name in filter(None, run.setup.word("mistakes").split(",")):
        harmless = name in OFTEN_HARMLESS or name == "evaluates-in-train-mode"
        yield Evidence(
            severity=progress_severity(
                features,
                stuck="high",
                unknown="medium",
                learns="info" if harmless else "low" if name in OF_MEASUREMENT else "medium",
            ),
            strength=0.5 if name in OFTEN_HARMLESS else 1.0,
            aspects=(name,),
            values={"what": WORDS.get(name, name)},
            points=(EvidencePoint("setup:mistakes", None, 1, 0, "mistakes"),),
        )
