"""DAT015 labels-make-no-difference."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT015",
    needs=("setup:permuted_end", "setup:real_end", "setup:real_advantage"),
    min_points=1,
    severity="medium",
    message="the loss reaches {real:.3g} with the real labels and {permuted:.3g} with permuted "
    "labels, which is no better",
)
def labels_make_no_difference(
    run: Run,
    features: Features,
    *,
    clear: float = threshold(3.0, "standard errors", "theory", "chance gives this once in 700"),
    share: float = threshold(0.02, "of the loss", "convention", "a smaller difference is useless"),
    fitted: float = threshold(0.5, "of the first loss", "convention", "one batch could be learned"),
    passes: float = threshold(2, "epochs", "convention", "every sample was seen more than once"),
) -> Iterator[Evidence]:
    """The real labels are learned no faster than permuted ones.

    ## What it sees
    The losses of two starts, one of them with the labels permuted among the samples (measured by `traindx
    check`), compared in every tenth of the steps. They are judged only if one batch can be memorized, which
    shows that the model works, and after two passes over the data.

    ## Why it matters
    The model then learns only the frequency of the labels, or memorizes single samples: labels and
    inputs do not belong together.

    ## When it is wrong
    Some tasks are learned late (parity, modular arithmetic). Some labels are really random.

    ## What to try
    Inspect ten inputs with their labels. Shuffle inputs and labels with one permutation, and sort files
    and label lists in the same way.

    ## Sources
    Zhang et al. (2017), Understanding deep learning requires rethinking generalization,
    https://arxiv.org/abs/1611.03530.
    """
    setup = run.setup
    if (setup.number("optimizers") or 1) > 1:
        raise CannotJudge("several optimizers: adversarial networks get one class at a time")
    real, permuted, error = (setup.number(n) for n in ("real_end", "permuted_end", "real_advantage_error"))
    advantage, epochs = setup.number("real_advantage"), setup.number("real_epochs") or 0.0
    if real is None or permuted is None or advantage is None:
        raise CannotJudge("one of the losses is not finite")
    start, end = setup.number("one_batch_start"), setup.number("one_batch_end")
    if start is None or end is None or end > fitted * start:
        raise CannotJudge("not even one batch was learned, or this was not tried")
    if epochs < passes:
        raise CannotJudge(f"needs {passes:.0f} passes over the data, and {epochs:.1f} were made")
    if advantage > clear * (error or 0.0) and advantage > share * abs(permuted):
        return
    yield Evidence(
        strength=0.5,
        values={"permuted": permuted, "real": real},
        points=(EvidencePoint("real_advantage", None, advantage, clear * (error or 0.0), "loss"),),
    )
