"""What a log prints of its setup before it trains: options, configurations, solver files."""

import re
from array import array
from bisect import bisect_left, bisect_right

from traindx.readers.textlog.complaints import complaint_facts, complaints_in, says_resumed
from traindx.readers.textlog.grammar import LONGEST_LINE
from traindx.readers.textlog.mistakes import MOST_LINES, find_mistakes
from traindx.readers.textlog.seams import SEAM
from traindx.vocabulary import Fact

NUMBERS = {
    "lr": """lr learning_rate base_lr init_lr initial_lr max_lr peak_lr lr0 base_learning_rate initial_learning_rate""",
    "batch_size": """batch_size train_batch_size global_batch_size batchsize bsz ims_per_batch total_batch_size
    total_train_batch_size train_batch_tokens""",
    "accumulation": """gradient_accumulation_steps grad_accum_steps accumulate_grad_batches update_freq grad_accum
        iter_size""",
    "weight_decay": "weight_decay wd weightdecay",
    "momentum": "momentum",
    "clip_norm": """clip_grad clip_norm max_grad_norm grad_clip gradient_clipping gradient_clip_val clip_grad_norm
        grad_clip_norm clip_gradients""",
    "warmup_steps": "warmup_steps warmup_iters num_warmup_steps warmup_updates lr_warmup_iters",
    "planned_steps": """max_steps max_iter max_iters total_steps train_iters num_train_steps max_update
        max_updates num_iterations
    iterations total_optimization_steps total_iters n_iters total_timesteps""",
    "planned_epochs": "epochs num_epochs max_epochs num_train_epochs max_epoch n_epochs epoches total_epochs nepochs",
    "seed": "seed random_seed manual_seed",
    "classes": "num_classes n_classes num_labels nb_classes",
    "workers": "num_workers n_workers dataloader_num_workers",
    "parameters": """model_params num_params n_params n_parameters number_of_params number_of_parameters total_params
    number_of_trainable_parameters trainable_params""",
    "dataset_size": "num_examples train_size num_train_examples dataset_size num_train_samples train_samples",
}
TEXTS = {
    "optimizer": "optimizer optim opt optimizer_name optimizer_type",
    "schedule": "lr_scheduler_type lr_scheduler lr_policy lr_decay_style scheduler lr_schedule",
    "precision": "precision mixed_precision params_dtype dtype amp_dtype",
    "model": "model arch backbone model_name model_name_or_path architecture",
}
FIELD_OF = {
    alias: field for table in (NUMBERS, TEXTS) for field, names in table.items() for alias in names.split()
}
FLAGS = {"fp16": "fp16", "bf16": "bf16"}
CODE = re.compile(
    r"self\.|getenv|environ|lambda|\bargs\.|add_argument|^\s*(?:return|def|class|import|from|if|elif|else|for|while|with|raise|try|except|@)\b"
    r"|\)\s*(?:->.*)?:$|\{\w+[:}.]|default=|\w = [A-Za-z_]\w*[.(]|^\s+\w[\w.]* = |\w\(\w*\)"
)
KNOWN = """adamw? adamx adamax nadamw? radam adabelief adafactor adagrad adadelta sgdm? rmsprop rprop lion lamb lars
muon sophia lbfgs novograd shampoo ranger yogi"""
NAMES_OF_OPTIMIZERS = (
    rf"((?:paged_|fused_?)?(?:{'|'.join(KNOWN.split())})(?:_?\d+bit|_torch_fused|_torch|_hf)?)"
)
OPTIMIZER = re.compile(rf"(?<![\w-]){NAMES_OF_OPTIMIZERS}(?![\w.-])", re.IGNORECASE)
ABOUT_OPTIMIZER = re.compile(
    rf"optimi[sz]er|\boptim\b|\bsolver_type\b|\busing (?:fused )?{NAMES_OF_OPTIMIZERS}\b", re.IGNORECASE
)
PRINTED_OPTIMIZER = re.compile(rf"^\s*{NAMES_OF_OPTIMIZERS} \(\s*$", re.IGNORECASE)
PRECISION = re.compile(
    r"(?:bf|b?float|fp)?16[- ]?(?:bit)?[- ](?:automatic )?(?:mixed|amp)|(?<!\S)--(?:fp|bf)16(?! (?:false|0))(?!\S)",
    re.IGNORECASE,
)
NO_NAMES = frozenset(
    {
        "none",
        "true",
        "false",
        "is",
        "and",
        "the",
        "for",
        "on",
        "dict",
        "with",
        "type",
        "name",
        "state",
        "class",
    }
)
MOST_WORDS = 3  # different values of one fact, beyond which none of them is believed
LITERAL = re.compile(r"Namespace\(|\bdict\(")
# What somebody writes who asks about a run: his program and his words say what was used, wherever they are.
ASKS = re.compile(
    r"\bI(?:'\w+)? [a-z']+ [a-z\d]|\b[a-z]{2,} \S+ .*\?\s*$|？|请问|为什么"
    r"|^(?:hi|hello|help|trying to|fine-?tuning|training (?:a|an|my|the)) [a-z]",
    re.I,
)
CALLED = re.compile(
    rf"(?<![\w-]){NAMES_OF_OPTIMIZERS}\(.*?\b(?:lr|learning_rate)\s*=\s*(\d+\.?\d*(?:e-?\d+)?|\.\d+)\s*[,)]",
    re.I,
)
SAID = (
    ("lr", re.compile(
        r"\b(?:lr|learning rate)(?: of| to| is| was| at| as| from| ?[=:])? ?(\d+\.?\d*(?:e-?\d+)?)(?!\S*\d)", re.I)),
    ("batch_size", re.compile(r"\bbatch(?: ?size)? (?:of|to|is|was|at|as) (\d+)(?![\d.]*\d)", re.I)),
    ("classes", re.compile(r"(?<![\w./-])([2-9]|[1-9]\d{1,5}) (?:different )?(?:classes|categories|labels)\b")),
    ("dataset_size", re.compile(
        r"\b(?:have|with|on|of|only|just|about|around|use[ds]?|are) (\d[\d,]*) (?:training |train |labell?ed |different )?"
        r"(?:images|pictures|samples|examples|sentences|observations|photos|videos)\b", re.I)),
    ("momentum", re.compile(r"\bmomentum (?:of|is|was|to) (0?\.\d+)", re.I)),
    ("dropout", re.compile(r"\bdropout(?: rate| layers?)? (?:of|is|was|with|to) (0?\.\d+)", re.I)),
    ("optimizer", re.compile(
        rf"\b(?:use[ds]?|using|with|tried) (?:the )?{NAMES_OF_OPTIMIZERS}(?= ?[,.;)]| (?:opt|and lr|with)|$)", re.I)),
    ("simulator", re.compile(
        r"\b(PPO|D?DQN|A[23]C|DDPG|TD3|TRPO|cart-?pole|lunar ?lander|(?:open ?ai )?gym(?:nasium)?|reinforcement learning"
        r"|episodes? rewards?|(?:my|the|an) agent)\b(?! model)", re.I)),
    ("diffusion", re.compile(r"\b(ddpm|ddim|(?:latent |stable )?diffusion(?= model| training| loss| unet|\.py))\b", re.I)),
    ("loss_kind", re.compile(
        r"\b(triplet|siamese|contrastive)\b(?=.{0,40}\bloss|.{0,20}\bnet)|\bloss.{0,20}\b(margin)\b", re.I)),
    ("workers", re.compile(r"\bnum_workers ?(?:=|of|is|to|was)? ?(\d+)")),
    ("shuffle", re.compile(r"\btrain\w*\s*=.*DataLoader\(.*shuffle\s*=\s*(False)")),
    ("precision", re.compile(
        r"(?<!not )(?<!n't )\b(?:use|using|with|in|enabled?|(?:turn|switch)\w* (?:on|to))"
        r" (fp16|bf16|amp|half|mixed)\b|\.to_(fp16)\(", re.I)),
)  # fmt: skip
DEPTH = re.compile(
    r"(?<![\w.-])(\d{1,3})[- ](?:hidden[- ]|dense[- ]|linear[- ]|fully[- ]connected[- ])?layers?\b", re.I
)
SATURATES = re.compile(
    r"\b(sigmoid|tanh)(?:s\b| activations?\b|\b(?! (?:output|cross|on the|at the|in the last)))", re.I
)
RECTIFIES = re.compile(r"relu|gelu|elu\b|silu|swish|mish|\b(?:output|last|final)\b", re.I)
GRADIENTS = re.compile(r"\bgrad(?:ient)?s?\b|grad_norm", re.IGNORECASE)
PROSE = re.compile(
    r"(?:^|[\s(*#>])[A-Za-z][a-z']*[,.?!;:]*(?:\s+[A-Za-z][a-z'’_]*[,.?!;:]*){2}|[\u4e00-\u9fff]{3}"
)
DECIMAL = re.compile(r"\d\.\d")
COMMENT = re.compile(r"(?<=\S)\s+#.*")  # of source code: not the words of who asks
NEAR, CROWD = 8, 3  # so many lines of code within so many lines make a listing

PAIR = re.compile(
    r"""
    (?<![\w.])(--)?["']?([A-Za-z]\w*(?:[-\ ][A-Za-z]\w*){0,3})["']?  # a name
    (?:\s*\([^)=]{0,60}\))?                                         # perhaps a remark in brackets
    (\s*(?:[:=]|\.{3,}|\s[|])\s*|\s+)                               # what joins name and value
    (?=["']?([A-Za-z][\w.\-/]*|[-+]?\d[\d.,]*(?:e[-+]?\d+)?(?:\s?[kKMB](?!\w))?))
    """,
    re.IGNORECASE | re.VERBOSE,
)
MOST_FOUND = 2000
# Lines of prose in a question. A log with more of them prints what its model was asked and said.
MOST_PROSE = 100
SUFFIX = {"k": 1e3, "m": 1e6, "b": 1e9}

# What a program prints of early stopping, which is no complaint: `Will train until eval error hasn't decreased in 5 rounds`.
STOPS = re.compile(
    r"(?i)(?!.*\?)(?:(?:will )?train(?:ing)? until\b.*\brounds\b|early.?stop|stopping\b|.*\bpatience:? \d+/\d)"
)


class Facts:
    """Candidates with the line they were on; the first of a name in a stretch is the one kept."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str, Fact]] = []
        self.said: list[tuple[str, Fact]] = []
        self.complaints: dict[str, str] = {}  # slug -> sentence, in the order of the text
        self.sentences: set[int] = set()  # the rows that complain
        self.seams: list[int] = []  # the rows that say that the run was resumed
        self.asked = self.gradients = False  # whether somebody asks, and whether gradients are spoken of
        self.prose = 0  # lines
        self.code = array("q")
        self.text: list[str] = []

    def offer(self, line: str, row: int) -> None:
        """Search a line of a new shape for options. Source code is passed over: it names options
        and defaults, not what was used."""
        if len(self.text) < MOST_LINES:
            self.text.append(line[:400])
        self.offer_sentences(line[:LONGEST_LINE], row)
        self.gradients = self.gradients or bool(GRADIENTS.search(line[:LONGEST_LINE]))
        self.said += facts_in_sentence(line[:LONGEST_LINE])
        if CODE.search(line[:400]) and not LITERAL.search(line):
            self.code.append(row)
            return
        if len(line) > LONGEST_LINE or len(self.found) > MOST_FOUND:
            return
        self.found += [(row, field, value) for field, value in optimizer_and_precision(line)]
        for option, name, between, value in PAIR.findall(line):
            fact = fact_of(name, value, bool(option or between.strip()))
            if fact is not None and not (fact[0] == "classes" and "..." in between):
                self.found.append((row, *fact))

    def offer_sentences(self, line: str, row: int) -> None:
        """Search a line of prose, or the title of a question, for what its author says is wrong."""
        words = COMMENT.sub("", line)
        titled = row == 1 and line.count(":") < 2 and not re.search(r"[=|]", line)
        prose = (titled or PROSE.search(words)) and not STOPS.match(line)
        complaints = dict(complaints_in(words)) if prose else {}
        worded = titled or PROSE.search(
            re.sub(r"(?i)\b(?:nan|inf)\b", "0", words)
        )  # not a row of `nan nan nan`
        self.prose += bool(worded)
        if SEAM.search(words) and not DECIMAL.search(words):
            self.seams.append(row)
        self.sentences |= {row} if complaints and worded else set()
        for slug, sentence in complaints.items():
            self.complaints.setdefault(slug, sentence)
        complains = bool(complaints) or says_resumed(words)
        self.asked = self.asked or bool(ASKS.search(line)) or (row == 1 and complains)

    def before(self, row: int) -> dict[str, Fact]:
        """Facts from lines before `row`; the first word on each is kept."""
        known: dict[str, list[Fact]] = {}
        for at, name, value in self.found:
            if at < row and self.count_code_lines_near(at) < CROWD:
                known.setdefault(name, []).append(value)
        if self.asked and self.prose <= MOST_PROSE:
            known = {name: [value] for name, value in reversed(self.said)} | known
            text = "\n".join(self.text)
            classes = next((v for v in known.get("classes", ()) if isinstance(v, int)), None)
            slugs = complaint_facts(self.complaints, text, classes) | find_mistakes(text)
            known |= {name: [",".join(found)] for name, found in slugs.items() if found}
        return {name: values[0] for name, values in known.items() if len(set(values)) <= MOST_WORDS}

    def count_code_lines_near(self, row: int) -> int:
        """How many lines of source code are around a line."""
        return bisect_right(self.code, row + NEAR) - bisect_left(self.code, row - NEAR)

    def is_in_code(self, row: int) -> bool:
        """Whether a line is in a listing of source code: code before it and behind it."""
        here = bisect_left(self.code, row)
        before, behind = self.code[max(here - 1, 0) : here], self.code[here : here + 2]
        near = before and behind and row - before[-1] <= NEAR and behind[-1] - row <= NEAR
        return bool(near) and self.count_code_lines_near(row) >= CROWD


def facts_in_sentence(line: str) -> list[tuple[str, Fact]]:
    """What a sentence or a call says of the setup: `my lr was 0.1`, `SGD(lr = 0.1, ...)`, `3 classes`."""
    found: list[tuple[str, Fact]] = []
    if (call := CALLED.search(line)) is not None:
        found = [("optimizer", call[1]), *filter(None, [as_number("lr", call[2])])]
    for name, pattern in SAID:
        if (match := pattern.search(line)) is not None:
            word = next(group for group in match.groups() if group)
            found.append(as_number(name, word) or (name, word.lower()))
    net, kinds = DEPTH.search(line), {word.lower() for word in SATURATES.findall(line)}
    if net is not None and kinds and not RECTIFIES.search(line):
        found += [("depth", int(net[1])), ("activations", ", ".join(sorted(kinds)))]
    return found


def optimizer_and_precision(line: str) -> list[tuple[str, Fact]]:
    """What a line says of the optimizer and the precision other than by an option: `Using AdamW optimizer`,
    what PyTorch prints of one, `optimizer = dict(type='SGD', ...)`, `16bit Automatic Mixed Precision`,
    `--fp16`."""
    found: list[tuple[str, Fact]] = []
    names = (ABOUT_OPTIMIZER.search(line) and OPTIMIZER.findall(line)) or PRINTED_OPTIMIZER.findall(line)
    if len({name.lower() for name in names}) == 1 and not line.rstrip().lower().endswith(
        (": false", "=false")
    ):
        found.append(("optimizer", names[0]))
    if half := PRECISION.search(line):
        found.append(("precision", "bf16" if half[0].lower().lstrip("-").startswith("b") else "fp16"))
    return found


def fact_of(name: str, value: str, firm: bool) -> tuple[str, Fact] | None:
    """The setup field and value that an option means, if it means one. `firm`: name and value are
    joined by a sign, not by a blank, without which words are too easily prose."""
    key = name.lower().replace("-", "_").replace(" ", "_")
    words = key.split("_")
    if " " in name and name.split(" ")[0].isupper():
        key = "_".join(words[1:])  # DLLogger's `PARAMETER seed : 42`
    field = FIELD_OF.get(key) or next(
        (
            FIELD_OF["_".join(words[i:])]
            for i in range(1, len(words))
            if " " in name and "_".join(words[i:]) in LONG
        ),
        None,
    )
    if key in FLAGS:
        return ("precision", FLAGS[key]) if value.lower() == "true" else None
    if field is None:
        return None
    if field in TEXTS:
        plain = value.strip("\"'")
        return (field, plain) if firm and plain[:1].isalpha() and plain.lower() not in NO_NAMES else None
    return as_number(field, value)


LONG = frozenset(name for name in FIELD_OF if "_" in name)


def as_number(field: str, value: str) -> tuple[str, Fact] | None:
    """A number, with thousands' commas and k, M, B taken in; nothing when it is none, or zero
    where zero means "not set"."""
    text = value.strip().rstrip(".,")
    scale = SUFFIX.get(text[-1:].lower(), 1.0)
    if scale != 1.0:
        text = text[:-1].strip()
    try:
        number = float(text.replace(",", "")) * scale
    except ValueError:
        return None
    if number < 0 or (
        number == 0 and field not in ("seed", "weight_decay", "momentum", "workers", "warmup_steps")
    ):
        return None
    return field, int(number) if number.is_integer() and abs(number) < 1e15 else number
