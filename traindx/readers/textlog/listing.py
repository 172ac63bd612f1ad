"""What a program that was pasted with a question does wrong, as far as its source or its author's words show it."""

import re

MOST_LINES = 600  # of a question


def source(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)


NEGATION = r"(?:don['’]?t|do not|did ?n['’]?t|did not|not|never|without|forgot(?:ten)?(?: to)?|no)"
UNUSED = rf"\b(?:{NEGATION}|remov\w+|instead of)\b[^.?!\n]{{0,30}}\b(?:softmax|sigmoid)\b"
BACKWARD, ELSEWHERE = (
    source(r"\.backward\("),
    source(r"accelerator|Trainer\b|engine|deepspeed|accumul|\bclosure\b|scaler\.scale.*\bD\b"),
)
TAKES_LOGITS = source(r"\bCrossEntropyLoss\b", r"\bcross_entropy\(", r"from_logits\s*=\s*True")
ENDS_IN_SOFTMAX = source(
    r"\bnn\.Softmax\([^)\n]*\),?\s*\)?\s*$",
    r"return\s+(?:\w+\.)*softmax\(",
    r"activation\s*=\s*['\"]softmax",
    r"\b(?:last|output|final) (?:layer|activation)\b[^\n]{0,30}\bsoftmax\b",
    r"\bends? (?:with|in) (?:a )?softmax\b",
    r"\bsoftmax\b (?:activation |layer |function )?(?:at|as|in|on|for|after) (?:the|my) (?:very )?(?:end|last|output|final)",
)
TAKES_A_LOGIT = source(r"BCEWithLogits", r"binary_cross_entropy_with_logits", r"from_logits\s*=\s*True")
ENDS_IN_SIGMOID = source(
    r"\bnn\.Sigmoid\(\),?\s*\)?\s*$",
    r"return\s+(?:\w+\.)*sigmoid\(",
    r"Dense\(\s*1\s*,[^)\n]*sigmoid",
    r"\b(?:last|output|final) (?:layer|activation)\b[^\n]{0,30}\bsigmoid\b",
    r"\bends? (?:with|in) (?:a )?sigmoid\b",
    r"^\s*(?:x|out|logits)\s*=\s*(?:torch|F)\.sigmoid\(",
)
CLEARS = source(r"zero_grad", r"\.grad\s*=\s*None", r"\.grad\.(?:data\.)?zero_", r"clear_grad")
STEPS = source(r"\bstep\(", r"apply_gradients", r"-=", r"\.sub_\(", r"\.add_\(", r"minimize\(")

# The mistake, what the text has to contain, and what it must not contain.
MISTAKES: tuple[tuple[str, tuple[re.Pattern[str], ...], tuple[re.Pattern[str], ...]], ...] = (
    ("softmax-before-cross-entropy", (TAKES_LOGITS, ENDS_IN_SOFTMAX), (source(r"log_?softmax", r"attention", UNUSED),)),
    ("sigmoid-before-logits-loss", (TAKES_A_LOGIT, ENDS_IN_SIGMOID), (source(UNUSED),)),
    (
        "softmax-of-one-output",
        (source(r"Dense\(\s*(?:units\s*=\s*)?1\s*,[^)\n]*softmax", r"Linear\([^)\n]*,\s*1\s*\),?\s*\n[^\n]*\bSoftmax\("),),
        (),
    ),
    (
        "binary-loss-for-classes",
        (source(r"binary_crossentropy"), source(r"Dense\(\s*(?:[3-9]|\d\d+)\s*,[^)\n]*softmax")),
        (),
    ),
    ("gradients-not-cleared", (BACKWARD, source(r"\bopt\w*\.step\(")), (CLEARS, ELSEWHERE)),
    (
        "cleared-before-step",
        (source(r"\.backward\([^\n]*\n(?:(?!.*step\()[^\n]*\n){0,2}[^\n]*zero_grad\([^\n]*\n(?:(?!.*backward\()[^\n]*\n){0,2}?[^\n]*\bopt\w*\.step\("),),
        (ELSEWHERE,),
    ),
    ("never-steps", (BACKWARD, source(r"zero_grad\(")), (STEPS, ELSEWHERE)),
    (
        "loss-made-anew",
        (
            source(
                r"\bloss\s*=\s*(?:torch\.(?:tensor|FloatTensor)|Variable)\([^\n]*loss",
                r"\bloss\.requires_grad(?:_\(|\s*=\s*True)",
            ),
        ),
        (),
    ),
    (
        "evaluates-in-train-mode",
        (source(rf"{NEGATION} (?:\w+ ){{0,3}}(?:\w+\.)?eval\(\)"),),
        (),
    ),
    (
        "validates-on-training-data",
        (
            source(
                r"validation_data\s*=\s*\(\s*(?:x_?train\b|train_?x)",
                r"\b(?:evaluat|validat)\w* (?:\w+ ){0,3}on (?:the |my )?(?:same )?train(?:ing)? (?:set|data)",
                r"\bsame (?:data|dataset|set|images|samples) for (?:both )?(?:train\w*|validation) and (?:train|val|test)",
                r"\btraining (?:set|data) as (?:the |my )?(?:validation|test)",
            ),
        ),
        (),
    ),
    (
        "inputs-not-scaled",
        (
            source(
                rf"\b{NEGATION}\W+(?:(?!batch|layer|group|gradient|weight|loss|need)\w+\W+){{0,3}}"
                r"(?:normali[sz]|standardi[sz]|scal(?:e|ing)\b)",
                r"\b(?:unscaled|unnormali[sz]ed|raw pixel)\b",
                r"\bpixels? (?:values? )?(?:are |is )?(?:in |from |between )?(?:the range )?\(?0 ?(?:-|to|and) ?255",
            ),
        ),
        (source(r"/\s*255", r"ToTensor\(", r"Normalize\(", r"StandardScaler|MinMaxScaler|batch[ _-]?norm"),),
    ),
    (
        "batches-in-file-order",
        (source(r"DataLoader\([^\n]*train[^\n]*shuffle\s*=\s*False", r"\bfit\([^)]*shuffle\s*=\s*False"),),
        (source(r"time[- ]series|forecast|stateful|sampler"),),
    ),
    (
        "all-layers-frozen",
        (
            source(
                r"\b(?:fro(?:ze|zen)|freez\w*|requires_grad\s*=\s*False)\b[^.\n]{0,40}\ball\b",
                r"\ball\b[^.\n]{0,30}\b(?:layers|parameters|weights)\b[^.\n]{0,30}(?:frozen|requires_grad\s*=\s*False)",
            ),
        ),
        (source(r"\.(?:fc|head|classifier)\b", r"\b(?:except|but|new|last|final|top|head)\b"),),
    ),
)  # fmt: skip


def mistakes_in(text: str) -> tuple[str, ...]:
    """The mistakes that a question shows, in the order of the table."""
    return tuple(
        name
        for name, needed, excluded in MISTAKES
        if all(p.search(text) for p in needed) and not any(p.search(text) for p in excluded)
    )
