"""Mistakes of a program that the author of a question describes, or shows in the source that is pasted.

One table. A mistake that a rule sees in a recording is named by the slug of that rule and listed in the fact
`described`, which counts as evidence for the causes of that rule. A mistake that only the text can show is listed
in the fact `mistakes`, which `program-shows-mistake` reads; its words for the page are in that rule.
"""

import re
from typing import Literal, NamedTuple

MOST_LINES = 600  # of a question

NEGATION = r"(?:don['’]?t|do not|did ?n['’]?t|did not|not|never|without|forgot(?:ten)?(?: to)?|no)"
UNUSED = rf"\b(?:{NEGATION}|remov\w+|instead of)\b[^.?!\n]{{0,30}}\b(?:softmax|sigmoid)\b"
RARELY = r"\b(?:no|not|never|without|remov\w+|instead of|\w+n't)\b[^.?!\n]{0,30}"
BACKWARD = r"\.backward\("
LOOP = (r"^\s*for\b.*:\s*$", BACKWARD)
ELSEWHERE = r"accelerator|Trainer\b|engine|deepspeed|accumul|\bclosure\b|scaler\.scale.*\bD\b"
ENDS_IN_SOFTMAX = (
    r"\bnn\.Softmax\([^)\n]*\),?\s*\)?\s*$"
    r"|return\s+(?:\w+\.)*softmax\("
    r"|activation\s*=\s*['\"]softmax"
    r"|\b(?:last|output|final) (?:layer|activation)\b[^\n]{0,30}\bsoftmax\b"
    r"|\bends? (?:with|in) (?:a )?softmax\b"
    r"|\bsoftmax\b (?:activation |layer |function )?(?:at|as|in|on|for|after) (?:the|my) (?:very )?"
    r"(?:end|last|output|final)"
)
ENDS_IN_SIGMOID = (
    r"\bnn\.Sigmoid\(\),?\s*\)?\s*$"
    r"|return\s+(?:\w+\.)*sigmoid\("
    r"|Dense\(\s*1\s*,[^)\n]*sigmoid"
    r"|\b(?:last|output|final) (?:layer|activation)\b[^\n]{0,30}\bsigmoid\b"
    r"|\bends? (?:with|in) (?:a )?sigmoid\b"
    r"|\bsigmoid\b (?:activation |layer |function )?(?:at|as|in|on|for|after) (?:the|my) (?:very )?(?:end|last|output|final)"
    r"|^\s*(?:x|out|logits)\s*=\s*(?:torch|F)\.sigmoid\("
)
STEPS = r"\bstep\(|apply_gradients|-=|\.sub_\(|\.add_\(|minimize\("


class Mistake(NamedTuple):
    """A mistake, and what a text that shows it contains: all of `needed`, nothing of `excluded`."""

    fact: Literal["mistakes", "described"]
    slug: str
    needed: tuple[str, ...]
    excluded: str = r"(?!)"


MISTAKES = (
    Mistake(
        "mistakes",
        "softmax-before-cross-entropy",
        (r"\bCrossEntropyLoss\b|\bcross_entropy\(|from_logits\s*=\s*True", ENDS_IN_SOFTMAX),
        rf"log_?softmax|attention|{UNUSED}",
    ),
    Mistake(
        "mistakes",
        "sigmoid-before-logits-loss",
        (r"BCEWithLogits|binary_cross_entropy_with_logits|from_logits\s*=\s*True", ENDS_IN_SIGMOID),
        UNUSED,
    ),
    Mistake(
        "mistakes",
        "softmax-of-one-output",
        (
            r"Dense\(\s*(?:units\s*=\s*)?1\s*,[^)\n]*softmax"
            r"|Linear\([^)\n]*,\s*1\s*\),?\s*\n[^\n]*\bSoftmax\(",
        ),
    ),
    Mistake(
        "mistakes",
        "binary-loss-for-classes",
        (r"binary_crossentropy", r"Dense\(\s*(?:[3-9]|\d\d+)\s*,[^)\n]*softmax"),
    ),
    Mistake(
        "mistakes",
        "gradients-not-cleared",
        (BACKWARD, r"\bopt\w*\.step\("),
        rf"zero_grad|\.grad\s*=\s*None|\.grad\.(?:data\.)?zero_|clear_grad|{ELSEWHERE}",
    ),
    Mistake(
        "mistakes",
        "cleared-before-step",
        (
            r"\.backward\([^\n]*\n(?:(?!.*step\()[^\n]*\n){0,2}[^\n]*zero_grad\("
            r"[^\n]*\n(?:(?!.*backward\()[^\n]*\n){0,2}?[^\n]*\bopt\w*\.step\(",
        ),
        ELSEWHERE,
    ),
    Mistake("mistakes", "never-steps", (BACKWARD, r"zero_grad\("), f"{STEPS}|{ELSEWHERE}"),
    Mistake(
        "mistakes",
        "loss-made-anew",
        (
            r"\bloss\s*=\s*(?:torch\.(?:tensor|FloatTensor)|Variable)\([^\n]*loss"
            r"|\bloss\.requires_grad(?:_\(|\s*=\s*True)",
        ),
    ),
    Mistake("mistakes", "evaluates-in-train-mode", (rf"{NEGATION} (?:\w+ ){{0,3}}(?:\w+\.)?eval\(\)",)),
    Mistake(
        "mistakes",
        "validates-on-training-data",
        (
            r"validation_data\s*=\s*\(\s*(?:x_?train\b|train_?x)"
            r"|\b(?:evaluat|validat)\w* (?:\w+ ){0,3}on (?:the |my )?(?:same )?train(?:ing)? (?:set|data)"
            r"|\bsame (?:data|dataset|set|images|samples) for (?:both )?(?:train\w*|validation) and (?:train|val|test)"
            r"|\btraining (?:set|data) as (?:the |my )?(?:validation|test)",
        ),
    ),
    Mistake(
        "mistakes",
        "inputs-not-scaled",
        (
            rf"\b{NEGATION}\W+(?:(?!batch|layer|group|gradient|weight|loss|need)\w+\W+){{0,3}}"
            r"(?:normali[sz]|standardi[sz]|scal(?:e|ing)\b)"
            r"|\b(?:unscaled|unnormali[sz]ed|raw pixel)\b"
            r"|\bpixels? (?:values? )?(?:are |is )?(?:in |from |between )?(?:the range )?\(?0 ?(?:-|to|and) ?255",
        ),
        r"/\s*255|ToTensor\(|Normalize\(|StandardScaler|MinMaxScaler|batch[ _-]?norm",
    ),
    Mistake(
        "mistakes",
        "batches-in-file-order",
        (r"DataLoader\([^\n]*train[^\n]*shuffle\s*=\s*False|\bfit\([^)]*shuffle\s*=\s*False",),
        r"time[- ]series|forecast|stateful|sampler",
    ),
    Mistake(
        "mistakes",
        "all-layers-frozen",
        (
            r"\b(?:fro(?:ze|zen)|freez\w*|requires_grad\s*=\s*False)\b[^.\n]{0,40}\ball\b"
            r"|\ball\b[^.\n]{0,30}\b(?:layers|parameters|weights)\b[^.\n]{0,30}(?:frozen|requires_grad\s*=\s*False)",
        ),
        r"\.(?:fc|head|classifier)\s*=|\bexcept\b|\bbut (?:not )?(?:the|my) (?:last|final|head|top|classif)"
        r"|\b(?:only|just|new|replaced|added|train\w*) (?:\w+ ){0,3}(?:last|final|head|top|layers?|classifier)\b",
    ),
    Mistake(
        "described",
        "output-cannot-reach-targets",
        (
            r"\b(?:last|final|output|ends?)\b[^.?!\n]{0,40}\brelu\b"
            r"|\brelu (?:as|in|at|on|for) (?:the |my )?(?:last|final|output)\b"
            r"|\breturn\s+(?:\w+\.)*relu\(self\.(?:fc|out|lin|head|class)\w*\("
            r"|Dense\([^\n]*relu[^\n]*\n(?:(?![^\n]*(?:Dense|\badd)\()[^\n]*\n){0,4}[^\n]*compile\(",
            r"cross_?entropy|\bBCE",
        ),
        rf"{RARELY}\brelu\b",
    ),
    Mistake(
        "described",
        "loss-does-not-fit-targets",
        (r"\bMSELoss|mean_squared_error|\bmse\b|squared error", r"\bclassif|\bclasses\b"),
        r"regress|autoenc",
    ),
    Mistake("described", "training-in-eval-mode", (*LOOP, r"\.eval\(\)"), r"\.train\("),
    Mistake(
        "described",
        "modes-disagree",
        (
            r"\beval(?:\(\)|uation)?(?: mode)?\b[^.?!\n]{0,60}\b"
            r"(?:worse|bad|huge|wrong|terrible|drops?|random|constant)\b"
            r"|\b(?:validat|evaluat|predict|test)\w*\b[^?!]{0,80}\bsame (?:data\w*|set|images)\b"
            r"|\bsame (?:data\w*|set|images)\b[^?!]{0,80}\b(?:validat|evaluat|predict|test)"
            r"|\bevaluat\w*\b[^?!\n]{0,40}(?<![A-Za-z])train\w*[ _](?:data|set)"
            r"[^?!\n]{0,60}(?:\b(?:lower|worse|bad|poor|random)|0\.\d)"
            r"|\bidentical (?:train\w*\W+(?:and )?(?:val\w*|test)|val\w*\W+(?:and )?train)",
            r"batch ?norm|\bBN\b|resnet|mobilenet|efficientnet|inception|densenet",
        ),
    ),
    Mistake(
        "described",
        "graph-is-kept",
        (BACKWARD, r"\.append\(loss\)|\bloss\w* ?\+= ?loss\s*$"),
        r"\.detach\(",
    ),
    Mistake(
        "described",
        "train-and-validation-overlap",
        (
            r"\bvalidation (?:data\w*|set)\b[^.?!\n]{0,30}\bsame as\b[^.?!\n]{0,20}\btrain"
            r"|\baugment\w*[^.?!\n]{0,40}\b(?:then|before) (?:I )?(?:train.?test )?split",
        ),
    ),
    Mistake(
        "described",
        "inputs-not-finite",
        (
            r"\b(?:missing|nan|null) (?:values?|entries)\b|\b(?:data\w*|columns?|features?|inputs?)\b[^.?!\n]{0,30}"
            r"\b(?:contain\w*|ha[sd]|have|with)\b[^.?!\n]{0,20}\b(?:nans?|infs?)\b",
        ),
        rf"{RARELY}\b(?:nans?|missing|null|infs?)\b|\b(?:fill|drop|replac|imput|interpolat)\w*",
    ),
    Mistake(
        "described",
        "half-precision-overflows",
        (
            r"\b(?:fp32|float32|full precision|without (?:amp|fp16|mixed precision))\b[^.?!\n]{0,30}"
            r"\b(?:works?|fine|ok|normal|no nans?)\b",
        ),
        rf"{RARELY}\b(?:work|fine)",
    ),
    # The Trainer of Hugging Face prints 0 for a loss that is NaN, and fine-tuning in fp16 is where it meets one.
    Mistake(
        "described",
        "half-precision-overflows",
        (
            r"\bloss\W{0,4}(?:(?:is|was|are|becomes?|turns?|goes to|drops to) )?\W{0,2}(?:0(?:\.0+)?|zero)(?![\d.]*\d)"
            r"[^,.?!\n\d]{1,40}\bgrad\w*\W{1,4}(?:norm\W{0,4})?(?:(?:is|was|are|becomes?|turns?) )?\W{0,2}nan\b"
            r"|\bgrad\w*\W{1,4}(?:norm\W{0,4})?(?:(?:is|was|are|becomes?|turns?) )?\W{0,2}nan\b[^,.?!\n\d]{1,40}"
            r"\bloss\W{0,4}(?:(?:is|was|are|becomes?|turns?|goes to|drops to) )?\W{0,2}(?:0(?:\.0+)?|zero)(?![\d.]*\d)",
        ),
    ),
    Mistake(
        "described",
        "batches-sorted-by-class",
        (r"\b(?:sorted|ordered|grouped) by (?:the )?(?:class|label|categor)",),
    ),
    Mistake(
        "described",
        "labels-make-no-difference",
        (
            r"\bshuffl\w+[^.?!\n]{0,40}\bseparately"
            r"|\blabels? (?:are|were|got|might be|may be) (?:shuffled|mixed|mis)",
        ),
    ),
)


def find_mistakes(text: str) -> dict[str, list[str]]:
    """The slugs of the mistakes that a text shows, by the fact that lists them, in the order of the table."""
    # Compiled at the first question, as most logs ask nothing.
    found: dict[str, list[str]] = {"mistakes": [], "described": []}
    for fact, slug, needed, excluded in MISTAKES:
        if all(has_pattern(pattern, text) for pattern in needed) and not has_pattern(excluded, text):
            found[fact].append(slug)
    return found


def has_pattern(pattern: str, text: str) -> bool:
    """Whether a text contains a pattern."""
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE) is not None
