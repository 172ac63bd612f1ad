"""Grades: one property of a run as a word on a scale, for the ranking of causes.

A fact holds or does not, and a rule fires or does not. A grade puts every run on a scale (the loss fell
"slightly", "in part", "mostly"), so that usual values are evidence too. The edges of the scales are not
thresholds of a verdict: they only cut a range into parts, and the fit decides what each part means.
"""

import math

import msgspec

from traindx.causes.grades import answers as a
from traindx.causes.grades import curves as c
from traindx.causes.grades import setup as s
from traindx.features.comparisons.outputs_of_loss import loss_unit
from traindx.features.shared import Features
from traindx.vocabulary import Run


class Scale(msgspec.Struct, frozen=True):
    """`measure` gives a number that `edges` cut into `names` (one more than edges), or without edges one
    of the names. `unit` says what the number counts. The edges were set by hand, at orders of magnitude
    of the unit."""

    name: str
    measure: s.Measure
    edges: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    unit: str = ""


SCALES: tuple[Scale, ...] = (
    Scale("loss-fall", c.loss_fall, (-0.05, 0.02, 0.1, 0.4, 0.9),
          ("rises", "none", "slight", "part", "most", "all"), "of its first level"),
    Scale("loss-speed", c.loss_speed, (0.03, 0.1, 0.3), ("at-once", "early", "middle", "late"),
          "of the run until half of the fall"),
    Scale("loss-noise", c.loss_noise, (0.02, 0.1, 0.4, 1.5), ("calm", "some", "rough", "wild", "drowned"),
          "of its fall"),
    Scale("loss-leap", c.loss_leap, (1.2, 2.0, 10.0, 1000.0),
          ("none", "small", "large", "huge", "beyond"), "x its first level"),
    Scale("loss-lost", c.loss_lost, (0.03, 0.15, 0.5, 1.0), ("none", "little", "some", "much", "all"),
          "of its best fall"),
    Scale("loss-tail", c.loss_tail, (-0.1, -0.02, 0.02), ("falling", "sinking", "level", "rising"),
          "of its fall, in the last quarter"),
    Scale("loss-start", c.loss_start, (0.7, 1.3, 2.0, 10.0),
          ("below", "chance", "above", "far", "beyond"), "x guessing"),
    Scale("loss-end", c.loss_end, (0.03, 0.2, 0.6, 0.93, 1.1),
          ("solved", "good", "fair", "weak", "chance", "worse"), "x guessing"),
    Scale("loss-first", c.loss_first, (0.3, 1.2, 5.0, 50.0, 1e3),
          ("small", "unit", "some", "large", "huge", "giant"), "the loss itself"),
    Scale("loss-last", c.loss_last, (1e-3, 0.03, 0.3, 1.2, 5.0, 1e3),
          ("zero", "tiny", "small", "unit", "some", "large", "huge"), "the loss itself"),
    Scale("loss-broken", c.loss_broken, (),
          ("never", "first-row", "early", "early-passing", "late", "late-passing")),
    Scale("loss-tooth", c.loss_tooth, (0.3, 1.0, 3.0), ("none", "slight", "clear", "strong"),
          "x the spread within"),
    Scale("val-first", c.val_first, (0.8, 1.25, 2.0, 6.0), ("below", "beside", "above", "far", "beyond"),
          "x training's"),
    Scale("val-last", c.val_last, (0.8, 1.25, 2.0, 6.0), ("below", "beside", "above", "far", "beyond"),
          "x training's"),
    Scale("val-rise", c.val_rise, (0.05, 0.2, 1.0, 4.0), ("none", "slight", "some", "much", "far"),
          "x its fall"),
    Scale("val-best", c.val_best, (0.15, 0.5, 0.85), ("early", "middle", "late", "last"), "of the run"),
    Scale("val-fall", c.val_fall, (0.0, 0.05, 0.3, 0.8), ("rises", "none", "some", "most", "all"),
          "of its first value"),
    Scale("val-noise", c.val_noise, (0.03, 0.15, 0.6), ("calm", "some", "rough", "wild"),
          "of its median"),
    Scale("val-skill", c.val_skill, (0.1, 0.4, 0.75, 0.95), ("none", "poor", "fair", "good", "top"),
          "between guessing and perfect"),
    Scale("val-accuracy", c.val_accuracy, (0.3, 0.6, 0.85, 0.96), ("low", "some", "fair", "good", "top"),
          "accuracy"),
    Scale("val-still", c.val_still, (0.3, 0.8), ("moves", "sticks", "stands"),
          "of its points are one value"),
    Scale("norm-level", c.norm_level, (-7, -4, -2, 1.0, 2.5),
          ("none", "tiny", "small", "usual", "large", "huge"), "log10 of the median gradient norm"),
    Scale("norm-change", c.norm_change, (-2, -0.7, 0.7, 2),
          ("dies", "sinks", "stays", "grows", "explodes"), "log10 of end over start"),
    Scale("norm-tail", c.norm_tail, (3, 10, 100), ("even", "uneven", "heavy", "wild"),
          "largest over median"),
    Scale("clip", c.typical("clip_ratio"), (1e-3, 0.05, 0.5, 0.95),
          ("nothing-left", "tight", "much", "some", "rarely"),
          "median share of the gradient that clipping leaves"),
    Scale("lr-shape", c.rate_shape, (), ("constant", "warms-up", "decays", "vanishes-early", "leaps")),
    Scale("updates-size", c.update_size, (-8, -5, -4, -2.3, -1.3),
          ("none", "tiny", "small", "usual", "large", "huge"), "log10 of the median update ratio"),
    Scale("updates-first", c.update_first, (-4, -2, -1, 0), ("small", "usual", "large", "huge", "beyond"),
          "log10 of the largest early update ratio"),
    Scale("depth-slope", c.depth_slope, (-4, -2, -0.7, 0.7),
          ("vanished", "vanishing", "uneven", "even", "upside-down"),
          "log10 of first over last layer's gradient"),
    Scale("dead-units", c.worst_module("act_zero_fraction"), (0.02, 0.2, 0.6, 0.95),
          ("none", "some", "many", "most", "all"), "of the worst layer"),
    Scale("saturation", c.worst_module("act_saturated_fraction"), (0.05, 0.3, 0.7),
          ("none", "some", "much", "most"), "of the worst layer"),
    Scale("rank", c.last_module("act_rank"), (0.5, 1.5, 3.0), ("constant", "line", "few", "many"),
          "dimensions of the last activations"),
    Scale("activation-size", c.last_module("act_std"), (0.01, 0.1, 10, 1000),
          ("vanished", "small", "usual", "large", "huge"),
          "median standard deviation of the last layers"),
    Scale("weights-change", c.weights_change, (-0.3, -0.05, 0.3, 1.0),
          ("shrink", "sink", "stay", "grow", "explode"), "log10 of end over start, median of modules"),
    Scale("rate", s.rate, (-2.5, -1.5, -0.5, 0.7, 1.5),
          ("far-low", "low", "lowish", "usual", "high", "far-high"),
          "log10 against what is usual for the optimizer"),
    Scale("optimizer", s.optimizer, (), (*s.KINDS, "other")),
    Scale("schedule", s.schedule, (), ("some",)),
    Scale("batch", s.number("batch_size"), (2.5, 6, 600), ("tiny", "small", "usual", "large"), "samples"),
    Scale("batch-share", s.proportion("batch_size", "dataset_size"), (0.05, 0.3),
          ("small", "large", "most"), "of the data"),
    Scale("updates-made", s.updates_made, (20, 60, 200, 1000),
          ("handful", "few", "some", "many", "plenty"), "steps"),
    Scale("depth", s.number("depth"), (2.5, 5.5, 9.5), ("shallow", "usual", "deep", "very-deep"),
          "layers with weights"),
    Scale("normalization", s.flag_in_words("has_normalization", "there", "missing"), (),
          ("there", "missing")),
    Scale("width", s.width, (3, 9, 40), ("thread", "thin", "small", "usual"),
          "root of parameters per layer"),
    Scale("activation", s.activation, (), ("none", "rectifier", "saturating", "other")),
    Scale("model", s.model_kind, (), ("recurrent", "attention", "convolution", "dense")),
    Scale("inputs-scale", s.largest("inputs_mean_abs_max", "inputs_std_max"), (0.5, 3, 30),
          ("small", "usual", "large", "huge"), "largest mean or deviation"),
    Scale("inputs-spread", s.proportion("inputs_std_max", "inputs_std_min"), (10, 100),
          ("even", "uneven", "wild"),
          "largest over smallest deviation"),
    Scale("targets-scale", s.largest("targets_mean_abs_max", "targets_std_max"), (3, 30),
          ("usual", "large", "huge"), "largest mean or deviation"),
    Scale("outlier-share", s.largest("inputs_outlier_share", "targets_outlier_share"), (1e-6, 1e-3),
          ("none", "some", "many"), "of inputs or targets"),
    Scale("majority", s.majority, (1.3, 2.5, 6), ("even", "uneven", "skewed", "extreme"),
          "x an even share"),
    Scale("weight-decay", s.weight_decay, (1e-8, 2e-3, 0.02, 0.2),
          ("none", "usual", "some", "high", "extreme"), "decay"),
    Scale("dropout", s.number("dropout"), (0.01, 0.35, 0.65, 0.85),
          ("none", "usual", "some", "high", "extreme"), "rate"),
    Scale("momentum", s.momentum, (0.01, 0.95, 0.985), ("none", "usual", "high", "extreme"), "momentum"),
    Scale("data-size", s.number("dataset_size"), (100, 400, 3000), ("handful", "few", "some", "many"),
          "samples"),
    Scale("memory", s.proportion("parameters", "dataset_size"), (0.5, 3, 30),
          ("less", "fair", "more", "far-more"),
          "parameters per sample"),
    Scale("precision", s.precision, (), ("full", "float16", "bfloat16")),
    Scale("loss-kind", s.loss_kind, (), ("classes", "binary", "numbers", "other")),
    Scale("reduction", s.reduction, (), ("mean", "sum", "none")),
    Scale("class-weights", s.class_weights, (), ("yes", "no")),
    Scale("shuffle", s.flag_in_words("shuffle", "on", "off"), (), ("on", "off")),
    Scale("purity", s.purity, (0.1, 0.5), ("mixed", "uneven", "pure"), "class purity of batches"),
    Scale("val-shift", s.number("val_inputs_shift"), (0.2, 0.6), ("none", "some", "large"), "deviations"),
    Scale("val-spread", s.number("val_inputs_spread_ratio"), (0.5, 2.0), ("narrower", "alike", "wider"),
          "x training's"),
    Scale("overlap", s.number("train_val_overlap_share"), (0.02, 0.2), ("none", "some", "large"),
          "of validation samples"),
    Scale("repeats", s.repeats, (0.02, 0.5), ("none", "some", "most"), "of batches"),
    Scale("frozen", s.frozen, (0.01, 0.3, 0.9), ("none", "some", "most", "all"), "of the parameters"),
    Scale("unheld", s.unheld, (0.01, 0.3, 0.9), ("none", "some", "most", "all"),
          "of the parameters in no optimizer"),
    Scale("unreached", s.unreached, (0.01, 0.3, 0.9), ("none", "some", "most", "all"),
          "of the parameters without gradient"),
    Scale("unmoved", s.unmoved, (0.01, 0.3, 0.9), ("none", "some", "most", "all"),
          "of the parameters that do not move"),
    Scale("uncleared", s.uncleared, (0.01, 0.5), ("never", "some", "always"),
          "of steps without zero_grad"),
    Scale("eval-steps", s.number("steps_in_eval_mode_share"), (0.01, 0.5), ("never", "some", "mostly"),
          "of steps in evaluation mode"),
    Scale("train-evaluation", s.number("validation_in_train_mode_share"), (0.01, 0.5),
          ("never", "some", "mostly"), "of evaluations in training mode"),
    Scale("backwards", s.number("backwards_per_step"), (1.01, 4.5), ("one", "some", "many"),
          "backward passes a step"),
    Scale("nonfinite", s.word("nonfinite_first_direction"), (),
          ("forward", "backward", "weights", "inputs", "targets")),
    Scale("probabilities", s.probabilities, (), ("yes", "no")),
    Scale("outputs-from", s.word("outputs_last_activation"), (),
          ("none", "relu", "sigmoid", "tanh", "softmax", "log_softmax", "clamp")),
    Scale("masked", s.number("label_negative_share"), (1e-6, 0.5), ("none", "some", "most"),
          "of labels are negative"),
    Scale("norm-momentum", s.number("normalization_momentum"), (0.005, 0.6), ("still", "usual", "hasty"),
          "of running statistics"),
    Scale("start-low", s.decades("initial_gain_min"), (-2, -1, -0.4),
          ("nothing", "small", "smallish", "usual"), "log10 of the smallest initial gain"),
    Scale("start-high", s.decades("initial_gain_max"), (0.3, 0.6, 1),
          ("usual", "largish", "large", "huge"), "log10 of the largest initial gain"),
    Scale("train-skill", a.train_skill, (0.1, 0.4, 0.75, 0.95), ("none", "poor", "fair", "good", "top"),
          "of training batches, between guessing and perfect"),
    Scale("train-learning", a.train_learning, (-0.05, 0.01, 0.05), ("sinks", "level", "some", "much"),
          "of skill in the last half"),
    Scale("val-over-train", a.val_over_train, (-0.3, -0.08, 0.04, 0.15),
          ("far-below", "below", "beside", "above", "far-above"), "accuracy, against training batches"),
    Scale("contradicted", a.contradicted, (0.01, 0.08, 0.25), ("none", "few", "some", "many"),
          "of training labels"),
    Scale("one-answer", a.same_answer, (0.2, 0.6, 0.95), ("mixed", "leaning", "most", "one"),
          "of the way to one answer for all"),
    Scale("val-one-answer", a.val_same_answer, (0.2, 0.6, 0.95), ("mixed", "leaning", "most", "one"),
          "of the way to one answer for all"),
    Scale("loss-unit", loss_unit, (0.03, 0.9, 0.99, 1.01, 1.1, 5.0, 1e3),
          ("fraction", "part", "near-below", "equal", "near-above", "some-times", "many-times", "scaled"),
          "x the cross-entropy of the outputs"),
    Scale("beside-simple", a.compared_with_simple, (0.1, 0.5, 0.85, 0.98),
          ("nothing", "part", "most", "beside", "beyond"), "of what simple predictors gain"),
    Scale("val-beside-simple", a.val_compared_with_simple, (0.1, 0.5, 0.85, 0.98),
          ("nothing", "part", "most", "beside", "beyond"), "of what simple predictors gain"),
    Scale("simple-solves", a.simple_solves, (0.1, 0.4, 0.8), ("nothing", "part", "much", "all"),
          "between guessing and perfect"),
    Scale("updates-lost", c.worst_module("update_zero_fraction"), (0.05, 0.5, 0.95),
          ("none", "some", "most", "all"), "of the weights of the worst module, in a step"),
    Scale("rounded-to", a.rounded_to, (), ("float16", "bfloat16")),
    Scale("broken-first", a.broken_first, (), ("gradient", "loss")),
    Scale("alike-units", s.alike_units, (0.01, 0.5), ("none", "some", "most"), "of units start alike"),
    Scale("grad-cosine", c.typical("grad_cosine"), (-0.2, 0.2, 0.8),
          ("opposed", "unrelated", "related", "parallel"),
          "median cosine"),
    Scale("waiting", c.waiting, (0.2, 0.5), ("little", "some", "most"), "of a step"),
    Scale("step-growth", c.step_growth, (1.3, 2.5), ("steady", "slower", "far-slower"),
          "x, end over start"),
    Scale("memory-growth", c.memory_growth, (1.1, 1.5), ("steady", "grows", "swells"),
          "x, end over first tenth"),
)  # fmt: skip


def grades_of(run: Run, features: Features) -> dict[str, str]:
    """The grade on every scale for which the run has a measure."""
    grades: dict[str, str] = {}
    for scale in SCALES:
        measured = scale.measure(run, features)
        if isinstance(measured, str):
            if measured in scale.names:
                grades[scale.name] = measured
        elif measured is not None and not math.isnan(measured):
            grades[scale.name] = scale.names[sum(measured >= edge for edge in scale.edges)]
    return grades
