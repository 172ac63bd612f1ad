"""One line to its fields: which numbers it holds, and the key each of them stands under.

The grammar knows no format. A key is what stands before a number, up to the last comma, bar,
bracket, tab, double blank or number; between them stands `=`, `:`, a blank or a bracket. Counters
(`step`, `Epoch: [24] [1230/1251]`, a leading integer) are told from metrics by their words.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from traindx.readers.textlog.tokens import TIME, TOKEN, scale_of, short_unit
from traindx.readers.textlog.words import counter_of, evidence, is_side, role_in, role_of_key, role_only

LONGEST_LINE = 16384  # longer lines are data, not prints
MOST_FIELDS = 400
REACH = 300  # characters before a number in which its key is looked for
LONGEST_BAR = 2000  # characters of a line that may hold a progress bar and a dict

STRONG = re.compile(
    r"""["'’”`)\]*]{0,3}\s*(?:={1,2}|:{1,2}|->|=>|→)\s*["'“‘`(\[<{*]{0,3}(?:(?:tensor|array|np\.float\d+|np\.\w+|float|mx\.\w+)\(\[?)?\s*$"""
)
WEAK = re.compile(r"""[\s\[(<#"'*]*$""")
CUT = re.compile(r"(?<=\w):(?=[A-Za-z_])|[,;|{}\[\]\t•·!?…]|\s{2,}|\s[-–—]{1,3}\s|:\s|:$|=\s?|\s?>{1,3}\s|→|\)\s")
EDGES = " \t\"'“”‘’`*_-–—>#•~<&+:"
PAREN_UNIT = re.compile(r"\s*[(\[](ms|s|sec|secs|seconds|us|%|[KMG]i?B|bytes|h|min|hours)[)\]]$", re.IGNORECASE)
LINE_UNIT = re.compile(r"\b(?:time|memory)\s*\((ms|s|MB|GB|MiB|GiB)\)\s*\|", re.IGNORECASE)
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
SPANS = frozenset(("in", "took", "for", "elapsed", "duration", "within"))
FRACTIONS = frozenset(("epoch", "epochs", "kimg"))  # counters that may be printed as fractions
KEY = re.compile(r"^[\w\s./@\-'()%+^&:|~°µ↑↓*#]+$")
NOT_KEY = re.compile(
    r"\.(?:py|cpp|cc|c|h|hpp|cu|cuh|js|go|rs|ipynb|sh|json|yaml|yml|pt|pth|bin)$|^/|//|^\.|\.\.\.|\(\)|^self\.",
    re.IGNORECASE,
)
MOMENT = re.compile(
    r"^(?:epoch|step|iter\w*|round|batch)[\s_]+(?:start|end|begin|done|finished|complete[d]?)[\s_]+", re.IGNORECASE
)
BAR_THEN_DICT = re.compile(r"^.*?(?:it/s|s/it|\?it)[^{]*\](?=\s*\{)")
BEHIND = re.compile(r"\s+([A-Za-z][A-Za-z_ ]{1,24}?)\s*(?=[,;|)]|$|\s{2})")  # `3.21 avg loss,`
THINGS = re.compile(r" [a-z]+s\b(?!:|=)")  # `wrote 3 files`
RANK = re.compile(r"(?:\brank[ :_=]?|^\[default)(\d{1,5})\b", re.IGNORECASE)
KERAS_BAR = re.compile(r"\s*(?:\[[=>.]|━|\[=*\])")
CLOSING = re.compile(
    r"(?:^|[\s*=>-])(?:final|best|averaged stats|summary|overall|train_runtime)(?![a-z])", re.IGNORECASE
)
DICT_THEN_BAR = re.compile(r"\}\s*(?:[^{}]*\d%\|.*)$")


class Field(NamedTuple):
    """`kind`: "metric", "divisor" (of the metric before it), "counter" (`rank`, see `words`),
    "within" (a counter without a name), "total" (what the counter before it runs up to).
    `factor` brings the value to `unit`; `whole`: printed as an integer."""

    name: str
    kind: str
    rank: int = 0
    unit: str = ""
    factor: float = 1.0
    whole: bool = False


class Parsed(NamedTuple):
    """Fields of a line, where their digits stand, where any other number stands (both in order),
    the side ("train", "val", "") the line as a whole is about, the span of its time stamp, whether it
    sums up ("Averaged stats: ...", "final ...") rather than reports a moment, the words before the
    first key of a metric ("train_net_output"), and the process that printed it, -1 if not said."""

    fields: tuple[Field, ...]
    spans: tuple[tuple[int, int], ...]
    others: tuple[tuple[int, int], ...]
    side: str
    stamp: tuple[int, int] | None
    closing: bool
    lead: str
    rank: int


class Key(NamedTuple):
    text: str
    strong: bool
    lead: str
    unit: str


def parse(line: str) -> Parsed:
    """The fields of a line, in order. A line without any has an empty tuple."""
    reader = LineReader(line)
    for token in TOKEN.finditer(line, reader.floor, reader.end):
        reader.take(token)
        if len(reader.fields) >= MOST_FIELDS:
            break
    reader.drop_loose()
    return Parsed(
        tuple(reader.fields),
        tuple(reader.spans),
        tuple(reader.others),
        reader.side,
        reader.stamp,
        reader.closing,
        reader.lead,
        reader.rank,
    )


class LineReader:
    """Walks over the tokens of one line; `floor` is where the text before the next key begins."""

    def __init__(self, line: str) -> None:
        self.line = line
        short = len(line) <= LONGEST_BAR
        bar = BAR_THEN_DICT.match(line) if short and "{" in line else None
        tail = DICT_THEN_BAR.search(line) if short and "}" in line and "%|" in line else None
        self.start = self.floor = bar.end() if bar else 0
        self.end = tail.start() + 1 if tail else len(line)
        self.fields: list[Field] = []
        self.spans: list[tuple[int, int]] = []
        self.others: list[tuple[int, int]] = []
        self.side = self.key_side = ""
        self.stamp: tuple[int, int] | None = None
        self.last_kind = ""
        self.named = self.closing = False
        self.lead = ""
        told = RANK.search(line, 0, 120)
        self.rank = int(told[1]) if told else -1
        given = LINE_UNIT.search(line)
        self.unit = short_unit(given[1]) if given else ""

    def take(self, token: re.Match[str]) -> None:
        kind = token.lastgroup
        if token["num"] is not None:
            self.number(token)
            return
        if token["ratio"] is not None:
            self.ratio(token)
        else:
            self.others.append(token.span())
            if kind in ("date", "glog") and self.stamp is None and not self.fields:
                self.stamp = token.span()
        self.floor = token.end()

    def number(self, token: re.Match[str]) -> None:
        value = token["value"]
        gap = self.line[max(self.floor, token.start() - REACH) : token.start()]
        key = key_before(gap)
        wordy = value[-1] in "nNfFyY"
        if wordy and not (key.strong or evidence(key.text) or gap.strip() in ("", "(")):
            return  # the word "nan" in a sentence
        unit = short_unit(token["rate"] or token["unit"] or token["standing"] or key.unit or "")
        field = self.field_of(key, token, unit, value.lstrip("+-").isdigit())
        if field is None:
            self.others.append(token.span("value"))
            self.last_kind = ""
        else:
            self.fields.append(field)
            self.spans.append(token.span("value"))
            self.last_kind = field.kind
        self.floor = token.end()

    def field_of(self, key: Key, token: re.Match[str], unit: str, whole: bool) -> Field | None:
        gap = self.line[max(self.floor, token.start() - REACH) : token.start()]
        self.side = role_in(key.lead) or self.side
        if not self.named and not self.closing:
            self.closing = bool(CLOSING.search(key.lead) or CLOSING.match(key.text))
        if not key.text or role_only(key.text):
            self.side = role_of_key(key.text) or self.side if key.strong or not unit else self.side
            if not key.text or whole:
                return self.keyless(gap, token, unit, whole)
        counter = counter_of(key.text)
        if counter and (whole or counter[0] in FRACTIONS or (counter[1] < 2 and value_is_whole(token))) and not unit:
            self.side = role_of_key(key.text) or self.side
            return Field(counter[0], "counter", counter[1], whole=whole)
        if whole and not unit and key.strong and not self.fields and len(key.text) <= 2:
            return Field(key.text, "counter", 6, whole=True)  # `s:100 trl:3.3`
        name = metric_name(key, unit)
        counted = whole and not key.strong and THINGS.match(self.line, token.end())
        if not name or name.lower() == "x" or (counted and not evidence(name)):
            return None
        scale, unit = scale_of(name, unit)
        sided = self.sided(name)
        if " " in key.text and not self.named and role_of_key(key.text.split()[0]) == "val":
            self.side = "val"  # a line that begins `val loss: 0.6 acc: 0.7` is about one side
        if not self.named:
            self.lead = slug(key.lead)
        self.named = True
        return Field(sided, "metric", 0, unit or self.unit, scale, whole)

    def keyless(self, gap: str, token: re.Match[str], unit: str, whole: bool) -> Field | None:
        """A number under no key: a leading counter, a bracketed one, a rate, a mean in brackets."""
        bare = gap.strip()
        if "/" in unit:
            first = unit.split("/")[0]
            again = any(f.name == unit for f in self.fields)
            return None if again else Field(self.sided(unit), "metric", 0, first if first in TIME else "")
        if (
            whole
            and not unit
            and not self.fields
            and token.start() - self.start < 24
            and bare in ("", "[", "(", "#", "|")
        ):
            follows = self.line[token.end() : token.end() + 1]
            return Field("", "counter", 6, whole=True) if follows in ("", " ", "\t", ":", "]", ")", "|", ",") else None
        if whole and not unit and not self.fields and self.stamp and bare.endswith("] ["):  # clu's `x.py:48] [9] a=1`
            return Field("", "counter", 6, whole=True) if self.line.startswith("] ", token.end()) else None
        if whole and not unit and bare in ("][", "] [", "[") and self.last_kind in ("counter", "within", "total"):
            return Field("", "within", 2, whole=True)
        closed = self.line[token.end() : token.end() + 1] == "]"
        if whole and not unit and bare == "," and closed and self.last_kind == "counter" and self.fields:
            if not self.fields[-1].name:
                self.fields[-1] = self.fields[-1]._replace(name="epoch", rank=3)
            return Field("", "within", 2, whole=True)  # [epoch, batch]
        if (
            bare == "("
            and self.last_kind == "metric"
            and self.fields
            and self.line[token.end() : token.end() + 1] == ")"
        ):
            before = self.fields[-1]
            if not (whole and not before.whole) and evidence(before.name) == 2:
                return before._replace(name=before.name + "_running_mean")
        if not (self.fields or bare or unit) and token.start() > self.start:
            return None
        behind = BEHIND.match(self.line, token.end())
        if behind and evidence(behind[1]) == 2 and self.fields and not bare.strip(",;|:- "):
            return Field(self.sided("_".join(behind[1].split())), "metric", 0, unit, 1.0, whole)
        alone = not gap.strip(" \t,") and [f.kind for f in self.fields] == ["counter"] and not self.fields[0].name
        return Field("value", "metric") if alone else None

    def drop_loose(self) -> None:
        """Take out rates and durations that stand in no record: prose such as `done in 3.2s`."""
        if any(f.name == "value" for f in self.fields) and (len(self.fields) > 2 or self.others):
            self.fields.clear()
        if any(f.kind in ("counter", "within") or (f.kind == "metric" and not is_loose(f)) for f in self.fields):
            return
        self.others += self.spans
        self.fields.clear()
        self.spans.clear()

    def ratio(self, token: re.Match[str]) -> None:
        """`a/b`: a counter and what it runs up to, or a share (`Accuracy: 98/100`)."""
        key = key_before(self.line[max(self.floor, token.start() - REACH) : token.start()])
        self.side = role_in(key.lead) or self.side
        counter = counter_of(key.text) if key.text and not role_only(key.text) else None
        if counter is not None:
            self.side = role_of_key(key.text) or self.side
            pair = (Field(counter[0], "counter", counter[1], whole=True), Field(counter[0], "total", whole=True))
        elif not key.text or role_only(key.text):
            self.side = role_of_key(key.text) or self.side
            bar = "bar" if KERAS_BAR.match(self.line, token.end()) else ""
            pair = (Field(bar, "within", 2, whole=True), Field(bar, "total", whole=True))
        elif evidence(key.text) == 2 and metric_name(key, ""):
            name = self.sided(metric_name(key, ""))
            pair = (Field(name, "metric"), Field(name, "divisor"))
        else:
            self.others += [token.span("part"), token.span("whole")]
            self.last_kind = ""
            return
        self.fields += pair
        self.spans += [token.span("part"), token.span("whole")]
        self.last_kind = pair[1].kind

    def sided(self, name: str) -> str:
        """The name under `val/` when the line says so; a name met twice goes to the side that the
        key before it named (`Train Loss 0.5 Acc 0.8 Val Loss 0.6 Acc 0.7`)."""
        own = role_of_key(name)
        self.key_side = own or self.key_side
        taken = {f.name for f in self.fields if f.kind == "metric"}
        if not own and self.side == "val":
            name = f"val/{name}"
        if name in taken and not own and self.key_side:
            name = f"{self.key_side}/{name}"
        number = 2
        unique = name
        while unique in taken:
            unique, number = f"{name}#{number}", number + 1
        return unique


def slug(text: str) -> str:
    """The last few words of a text as one word."""
    return "_".join(re.findall(r"[A-Za-z]{2,}", re.split(r"[\]|]|\s-\s", text)[-1])[-4:]).lower()


def is_loose(field: Field) -> bool:
    """Whether a field has no key of its own: `3ms/step`, `in 2.5s`."""
    return field.name == "duration" or ("/" in field.name and field.name.split("/")[0] in (*TIME, "it", "iter", "step"))


def value_is_whole(token: re.Match[str]) -> bool:
    """Whether a value is a whole number however it is printed (`global_step=18.00`)."""
    whole, _, rest = token["value"].partition(".")
    return whole.isdigit() and not rest.strip("0")


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
    words = [w for w in text.split() if any(c.isalnum() for c in w) or w == "#"]
    while (
        words
        and words[0].lower() in LEVELS
        and (len(words) > 1 or words[0].lower() in ("info", "debug", "warning", "and"))
    ):
        words.pop(0)
    for place, word in enumerate(words[:-1]):
        if word in ("INFO", "WARNING", "DEBUG", "ERROR"):  # `trainer INFO step`
            words = words[place + 1 :]
            break
    if found and len(words) > 1:
        glued = (
            "=" in found[0] and found[0].strip(" ") == found[0] and words[-2].lower() != "time"
        )  # MXNet's `Time cost=`
        named = any(mark in words[-1] for mark in "_/") and not role_in(" ".join(words[:-1]))
        if glued or named:
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
