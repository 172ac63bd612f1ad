"""The key of a number: which words before it name it, and whether they name a metric."""

import re
from typing import NamedTuple

from traindx.readers.textlog.tokens import TIME
from traindx.readers.textlog.words import is_side, role_in

STRONG = re.compile(
    r"""["'’”`)\]*]{0,3}\s*(?:={1,2}|:{1,2}|->|=>|→)\s*["'“‘`(\[<{*]{0,3}(?:(?:tensor|array|np\.float\d+|np\.\w+|float|mx\.\w+)\(\[?)?\s*$"""
)
WEAK = re.compile(r"""[\s\[(<#"'*]*$""")
CUT = re.compile(
    r"^\s*(?:s|secs?|ms|mins?)\.\s|\b(?:left|remaining|done)\.\s"
    r"|(?<=\w):(?=[A-Za-z_])|[a-z]{5,}\.\s+(?=[A-Z])|[,;|{}\[\]\t•·!?…]|\s{2,}|\s[-–—]{1,3}\s|:\s|:$|=\s?|\s?>{1,3}\s|→|\)\s"
)
EDGES = " \t\"'“”‘’`*_-–—>#•~<&+:"
PAREN_UNIT = re.compile(
    r"\s*[(\[](ms|s|sec|secs|seconds|us|%|[KMG]i?B|bytes|h|min|hours)[)\]]$", re.IGNORECASE
)
LEVELS = frozenset(
    (
        "info",
        "debug",
        "warning",
        "warn",
        "error",
        "notice",
        "and",
        "the",
        "with",
        "a",
        "an",
        "stats",
        "parameter",
        "metric",
    )
)
TAILS = frozenset(("is", "was", "of", "equals", "equal", "at", "about", "now"))
OPEN = "to from than by after before in on for with every per and or the x until took elapsed within"
DANGLING = frozenset(OPEN.split())
TITLED = frozenset(("loss", "accuracy", "acc", "error", "reward", "score"))  # `KL Loss=3, Total Loss=5`
SPANS = frozenset(("in", "took", "for", "elapsed", "duration", "within"))
KEY = re.compile(r"^[\w\s./@\-'()%+^&:|~°µ↑↓*#]+$")
NOT_KEY = re.compile(
    r"\.(?:py|cpp|cc|c|h|hpp|cu|cuh|js|go|rs|ipynb|sh|json|yaml|yml|pt|pth|bin)$|^/|//|^\.|\.\.\.|\(\)|^self\.",
    re.IGNORECASE,
)
MOMENT = re.compile(
    r"^(?:epoch|step|iter\w*|round|batch)[\s_]+(?:start|end|begin|done|finished|complete[d]?)[\s_]+",
    re.IGNORECASE,
)


class Key(NamedTuple):
    text: str
    strong: bool
    lead: str
    unit: str


def slug(text: str) -> str:
    """The last few words of a text as one word."""
    return "_".join(re.findall(r"[A-Za-z]{2,}", re.split(r"[\]|]|\s-\s", text)[-1])[-4:]).lower()


def key_before(gap: str) -> Key:
    """The key at the end of the text between two numbers, and the text before the key."""
    found = STRONG.search(gap)
    head = gap[: found.start()] if found else WEAK.sub("", gap, count=1)
    if found:
        closers = len(found[0]) - len(found[0].lstrip(")"))
        head += ")" * min(closers, head.count("(") - head.count(")"))
    unit = ""
    given = PAREN_UNIT.search(head)
    if given:
        head, unit = head[: given.start()], given[1]
    begin = 0
    for cut in CUT.finditer(head):
        begin = cut.end()
    text = head[begin:].strip(EDGES)
    text = text.lstrip("(") if ")" not in text else text  # `(epoch: 1, iters: 100) loss: 0.3`
    if "..." in text:  # Megatron's options: `lr ......... 0.00015`
        text = ""
    words = [w for w in text.split() if any(c.isalnum() for c in w) or w in ("#", "@")]
    while (
        words
        and words[0].lower() in LEVELS
        and (len(words) > 1 or words[0].lower() in ("info", "debug", "warning", "and"))
    ):
        words.pop(0)
    if words and ")" not in text:  # `INFO (step 3)`
        words[0] = words[0].lstrip("(")
    for place, word in enumerate(words[:-1]):
        if word in ("INFO", "WARNING", "DEBUG", "ERROR"):  # `trainer INFO step`
            words = words[place + 1 :]
            break
    if found and len(words) > 1:
        # But MXNet's `Time cost=` is of two words.
        glued = "=" in found[0] and found[0].strip(" ") == found[0] and words[-2].lower() != "time"
        titled = words[-1].lower() in TITLED and all(word[0].isupper() for word in words)
        before = " ".join(words[:-1]).replace("_", " ")
        named = any(mark in words[-1] for mark in "_/") and not role_in(before)
        if (glued and not titled) or named:
            begin += len(text) - len(words[-1])
            words = words[-1:]
    return Key(" ".join(words), bool(found), head[:begin], unit)


def metric_name(key: Key, unit: str) -> str:
    """The column name that a key gives, "" when it is no name of a metric: a file, a sentence, a
    rank, a time that is left."""
    words = MOMENT.sub("", key.text).split()
    timed = unit in TIME
    if timed and words and words[-1].lower() in SPANS:
        return "duration"
    while len(words) > 1 and words[-1].lower() in (*TAILS, "value"):
        words.pop()
    name = "_".join(words).strip(EDGES)
    if name.count("(") != name.count(")"):
        name = name.strip("()")
    sentence = len(words) > (6 if key.strong else 4) or len(name) > 80
    if not words or sentence or words[-1].lower() in DANGLING or not re.search(r"[^\W\d_]", name):
        return ""
    if not KEY.match(name) or NOT_KEY.search(name) or is_side(name) or is_side(words[-1]):
        return ""
    if timed and not re.search(
        r"time|elapsed|dur|latency|sec|step_avg|avg|duration|data|dt|^t$|total", name, re.IGNORECASE
    ):
        return f"{name}_time"
    return "" if timed and name.lower() in ("total", "left") else name
