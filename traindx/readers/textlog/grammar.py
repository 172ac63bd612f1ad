"""One line to its fields: which numbers it holds, and the key of each of them.

The grammar knows no format. A key is what precedes a number, up to the last comma, bar,
bracket, tab, double blank or number; between them is `=`, `:`, a blank or a bracket. Counters
(`step`, `Epoch: [24] [1230/1251]`, a leading integer) are distinguished from metrics by their words.
"""

import re
from typing import NamedTuple

from traindx.readers.textlog.keys import TAILS, Key, key_before, metric_name, slug
from traindx.readers.textlog.tokens import TIME, TOKEN, plain_marks, scale_of, short_unit
from traindx.readers.textlog.words import CHANGED, counter_of, evidence, role_in, role_of_key, role_only

LONGEST_LINE = 16384  # longer lines are data, not prints
MOST_FIELDS = 400
REACH = 300  # characters before a number in which its key is looked for
LONGEST_BAR = 2000  # characters of a line that may hold a progress bar and a dict

APART = frozenset(("|", ",", ";", "-", "(", "["))
AT_END = re.compile(r"\s*(?:[|,;)\]]|$)")
LINE_UNIT = re.compile(r"\b(?:time|memory)\s*\((ms|s|MB|GB|MiB|GiB)\)\s*\|", re.IGNORECASE)
FRACTIONS = frozenset(("epoch", "epochs", "epch", "kimg"))  # counters that may be printed as fractions
BAR_THEN_DICT = re.compile(r"^.*?(?:it/s|s/it|\?it)[^{]*\](?=\s*\{)")
# A counter between a name and its value: `loss at step 12: 7.49`, `loss (step 12): 7.49`, `loss after 12
# steps: 7.49`.
NAME_THEN_COUNTER = re.compile(
    r"(?P<name>.*\w)(?:\s+(?:at|after|for|in|of|on)\s+(?:the\s+)?|\s*[@(]\s*)(?P<counter>[\w ]+)"
)
NAME_THEN_COUNT = re.compile(r"(?P<name>.*\w)\s+after")
UNNAMED_GAP = " \t,:|-–=>)]"  # between the last counter and a value without a name
COUNTED_THINGS = re.compile(r"\s+(?P<counter>[a-z_]+s)(?=\W)", re.IGNORECASE)
INDEXED = re.compile(r"(?P<name>\w[\w ./-]*)\[$")  # `loss[12] = 7.49`
NAMES_OF_TWO = re.compile(r"(?P<side>(?:[A-Za-z]+[ _])?)(?P<one>[A-Za-z]+)/(?P<two>[A-Za-z]+)")
PAIR = re.compile(r"\d+\s*,\s*\d+\s*\]")  # `[epoch, batch]`
LEGEND = re.compile(r"\([A-Za-z_, ]+\)")  # `Loss [3, 100](epoch, batch): 1.72`
GROUP = re.compile(
    r"(?:^|[\s,;|])(loss)(?:es)?\s*[:=]\s*[({\[]?\s*$", re.IGNORECASE
)  # `loss: x 0.5, y 0.2, total 0.7`
LISTED = re.compile(r"\s*[,/]?\s*\w+\s*")
INDEX_ENDS = re.compile(r"\]\s*[:=]")
BEHIND = re.compile(r"\s+([A-Za-z][A-Za-z_ ]{1,24}?)\s*(?=[,;|)]|$|\s{2})")  # `3.21 avg loss,`
THINGS = re.compile(r" [a-z]+s\b(?!:|=)")  # `wrote 3 files`
RANK = re.compile(r"(?:\brank[ :_=]?|^\[default|^\[\d+,(?=\d+\]<std))(\d{1,5})\b", re.IGNORECASE)
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


UNNAMED = Field("", "counter", 6, whole=True)
WITHIN = Field("", "within", 2, whole=True)
COUNTING = ("counter", "within", "total")
LEADS = ("", "[", "(", "#", "|")  # between the beginning of a line and a counter without a name
ENDS = ("", " ", "\t", ":", "]", ")", "|", ",")  # after it


class Parsed(NamedTuple):
    """Fields of a line, where their digits are, where any other number is (both in order),
    the side ("train", "val", "") the line as a whole is about, the span of its time stamp, whether it
    sums up ("Averaged stats: ...", "final ...") rather than reports a moment, the words before the
    first key of a metric ("train_net_output"), and the process that printed it, -1 if unknown."""

    fields: tuple[Field, ...]
    spans: tuple[tuple[int, int], ...]
    others: tuple[tuple[int, int], ...]
    side: str
    stamp: tuple[int, int] | None
    closing: bool
    lead: str
    rank: int


def parse(line: str) -> Parsed:
    """The fields of a line, in order. A line without any has an empty tuple."""
    line = plain_marks(line)
    reader = LineReader(line)
    for token in TOKEN.finditer(line, reader.floor, reader.end):
        reader.take(token)
        if len(reader.fields) >= MOST_FIELDS:
            break
    reader.drop_loose_values()
    found = tuple(reader.fields), tuple(reader.spans), tuple(reader.others)
    return Parsed(*found, reader.side, reader.stamp, reader.closing, reader.lead, reader.rank)


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
        self.twin = ""  # the name of the second of two values
        self.passed = 0  # characters behind a number that belong to it
        self.last_kind = self.waiting = ""  # `waiting`: a metric's name whose counter comes before its value
        self.named = self.closing = self.shared = (
            False  # `shared`: its counter is followed by a share of all
        )
        self.lead = self.group = ""  # `group`: "loss" in `loss: x 0.5, y 0.2, total 0.7`
        ranked = RANK.search(line, 0, 120)
        self.rank = int(ranked[1]) if ranked else -1
        given = LINE_UNIT.search(line)
        self.unit = short_unit(given[1]) if given else ""

    def take(self, token: re.Match[str]) -> None:
        kind = token.lastgroup
        if token["num"] is not None:
            self.number(token)
            return
        if token["ratio"] is not None:
            self.ratio(token)
        elif token["done"] is not None and all(
            f.kind == "metric" for f in self.fields
        ):  # `(5000 6%) 2.85`: a step and its share of all
            self.fields.append(Field("step", "counter", 1, whole=True))
            self.spans.append(token.span("steps"))
            self.last_kind, self.shared = "counter", True
        elif (token["numbered"] or token["ordinal"] or token["chinese"]) is not None:
            self.numbered(token)
        else:
            self.others.append(token.span())
            if kind in ("date", "glog") and self.stamp is None and not self.fields:
                self.stamp = token.span()
        self.floor = token.end()

    def number(self, token: re.Match[str]) -> None:
        value = token["value"]
        gap = self.line[max(self.floor, token.start() - REACH) : token.start()]
        key = self.key_of(gap, token)
        if self.twin and gap.strip() == "/":
            key = key._replace(text=self.twin, strong=True)
        pair = NAMES_OF_TWO.fullmatch(key.text) if self.line.startswith("/", token.end("value")) else None
        self.twin = ""
        if pair and not role_only(pair["one"]) and evidence(pair["one"]) and evidence(pair["two"]):
            # `train loss/acc 0.52/0.81`
            key, self.twin = key._replace(text=pair["side"] + pair["one"]), pair["side"] + pair["two"]
        wordy = value[-1] in "nNfFyY"
        alone = gap.strip() in ("", "(") or (self.shared and not gap.strip(UNNAMED_GAP))
        if wordy and not (key.strong or evidence(key.text) or alone or self.group):
            return  # the word "nan" in a sentence
        unit = short_unit(token["rate"] or token["unit"] or token["standing"] or key.unit or "")
        field = self.field_of(key, token, unit, value.lstrip("+-").replace(",", "").isdigit())
        if field is None:
            self.others.append(token.span("value"))
            self.last_kind = ""
        else:
            self.fields.append(field)
            self.spans.append(token.span("value"))
            self.last_kind = field.kind
        self.floor = token.end() + self.passed

    def key_of(self, gap: str, token: re.Match[str]) -> Key:
        """The key of a number. Where a counter comes between a metric's name and its value, the name waits
        for it."""
        key, self.passed = self.grouped(key_before(gap), gap), 0
        whole = token["value"].isdigit()
        if not self.fields and gap.rstrip().endswith("[") and PAIR.match(self.line, token.start()):
            self.waiting = key.text if evidence(key.text) else ""
            return Key("", False, key.lead, "")
        if self.waiting and whole and (counter_of(key.text) or gap.strip() == ","):
            return key  # `loss at epoch 3 and step 120 is 0.5`
        if self.waiting and LEGEND.sub("", gap).strip(" ])>-:=").lower() in ("", *TAILS):
            key = Key(self.waiting, True, "", "")
        self.waiting = ""
        if not whole:
            return key
        things = COUNTED_THINGS.match(self.line, token.end())
        if things and key.text.lower() == "after" and counter_of(things["counter"]):
            self.passed = things.end() - token.end()
            return Key(things["counter"], True, key.lead, "")  # `after 12 steps the loss is 7.49`
        if named := NAME_THEN_COUNTER.fullmatch(key.text):
            counter = named["counter"]
        elif things and (named := NAME_THEN_COUNT.fullmatch(key.text)):
            counter, self.passed = things["counter"], things.end() - token.end()
        elif INDEX_ENDS.match(self.line, token.end()) and not self.fields and (named := INDEXED.search(gap)):
            counter = "step"
        else:
            return key
        name = key_before(named["name"] + ":").text
        if counter_of(counter) is None or not evidence(name):
            self.passed = 0
            return key
        self.waiting, self.side = name, role_of_key(name) or self.side
        return Key(counter, True, key.lead, "")

    def grouped(self, key: Key, gap: str) -> Key:
        """The key, with the word before it that heads a list of losses."""
        if headed := GROUP.search(key.lead):
            self.group = headed[1].lower()
        elif not LISTED.fullmatch(gap):
            self.group = ""
        plain = self.group and not key.strong and key.text.isidentifier() and not evidence(key.text)
        name = self.group if key.text.lower() == "total" else f"{key.text}_{self.group}"
        return key._replace(text=name) if plain else key

    def numbered(self, token: re.Match[str]) -> None:
        """`Epoch-12`, `step #12`, `12th epoch`, `12epoch`, `第12轮`."""
        name, rank = counter_of(token["thing"] or token["of"] or token["glued"] or token["what"]) or (
            "step",
            1,
        )
        self.fields.append(Field(name, "counter", rank, whole=True))
        self.spans.append(token.span("count" if token["thing"] else "place" if token["what"] else "nth"))
        self.last_kind = "counter"

    def field_of(self, key: Key, token: re.Match[str], unit: str, whole: bool) -> Field | None:
        gap = self.line[max(self.floor, token.start() - REACH) : token.start()]
        self.side = role_in(key.lead) or self.side
        if not self.named and not self.closing:
            self.closing = bool(CLOSING.search(key.lead) or CLOSING.match(key.text))
        if not key.text or role_only(key.text):
            self.side = role_of_key(key.text) or self.side if key.strong or not unit else self.side
            if not key.text or whole:
                return self.after_its_step(gap, whole) or self.keyless(gap, token, unit, whole)
        counter = counter_of(key.text)
        if (
            counter
            and (whole or counter[0] in FRACTIONS or (counter[1] < 2 and value_is_whole(token)))
            and not unit
        ):
            self.side = role_of_key(key.text) or self.side
            return Field(counter[0], "counter", counter[1], whole=whole)
        if whole and not unit and key.strong and not self.fields and len(key.text) <= 2:
            return Field(key.text, "counter", 6, whole=True)  # `s:100 trl:3.3`
        name = "" if CHANGED.search(key.text) else metric_name(key, unit)
        counted = whole and not key.strong and THINGS.match(self.line, token.end())
        if not name or name.lower() == "x" or (counted and not evidence(name)):
            return None
        scale, unit = scale_of(name, unit)
        sided = self.side_name(name)
        if " " in key.text and not self.named and role_of_key(key.text.split()[0]) == "val":
            self.side = "val"  # a line that begins `val loss: 0.6 acc: 0.7` is about one side
        if not self.named:
            self.lead = slug(key.lead)
        self.named = True
        return Field(sided, "metric", 0, unit or self.unit, scale, whole)

    def after_its_step(self, gap: str, whole: bool) -> Field | None:
        """The loss of `Train loss 120 0.53` and `Validation loss 120: 0.53`, of which the first number is a step."""
        first = self.fields[0] if len(self.fields) == 1 else UNNAMED
        if whole or gap.strip() not in ("", ":") or not first.whole or "loss" not in first.name.lower():
            return None
        self.fields[0] = Field("step", "counter", 1, whole=True)
        return first._replace(whole=False)

    def keyless(self, gap: str, token: re.Match[str], unit: str, whole: bool) -> Field | None:
        """A number under no key: a leading counter, a bracketed one, a rate, a mean in brackets."""
        bare, follows = gap.strip(), self.line[token.end() : token.end() + 1]
        if "/" in unit:
            first = unit.split("/")[0]
            rate = Field(self.side_name(unit), "metric", 0, first if first in TIME else "")
            return None if any(f.name == unit for f in self.fields) else rate
        counted = whole and not unit
        if counted and not self.fields:
            if bare.endswith("[") and PAIR.match(self.line, token.start()):
                return UNNAMED
            sided = role_only(bare) and follows in (",", ":")  # `Train 3, loss: 0.5`
            if token.start() - self.start < 24 and (bare in LEADS or sided):
                return UNNAMED if follows in ENDS else None
            if self.stamp and bare.endswith("] ["):  # clu's `x.py:48] [9] a=1`
                return UNNAMED if self.line.startswith("] ", token.end()) else None
        if counted and bare in ("][", "] [", "[") and self.last_kind in ("counter", "within", "total"):
            return WITHIN
        if counted and bare == "," and follows == "]" and self.last_kind == "counter" and self.fields:
            if not self.fields[-1].name:
                self.fields[-1] = self.fields[-1]._replace(name="epoch", rank=3)
            return WITHIN  # [epoch, batch]
        if bare == "(" and follows == ")" and not unit and self.last_kind == "metric" and self.fields:
            before = self.fields[-1]
            if not (whole and not before.whole) and evidence(before.name) == 2:
                return before._replace(name=before.name + "_running_mean")
        if unit in TIME and bare in APART and self.fields and AT_END.match(self.line, token.end()):
            timed = any(f.unit in TIME for f in self.fields)
            return None if timed else Field("duration", "metric", 0, unit)  # `| loss 0.5 | 98.6 ms`
        if not (self.fields or bare or unit) and token.start() > self.start:
            return None
        behind = BEHIND.match(self.line, token.end())
        if behind and evidence(behind[1]) == 2 and self.fields and not bare.strip(",;|:- "):
            self.passed = behind.end() - token.end()
            return Field(self.side_name("_".join(behind[1].split())), "metric", 0, unit, 1.0, whole)
        if any(f.kind not in COUNTING for f in self.fields) or gap.strip(UNNAMED_GAP):
            return None
        bare_counter = [f.name for f in self.fields] == [""] and not gap.strip(" \t,")
        ends = self.shared or not self.line[token.end() :].strip(" \t)].")
        last = not whole and not unit and ends
        return Field("value", "metric") if self.fields and (bare_counter or last) else None

    def drop_loose_values(self) -> None:
        """Take out rates and durations that are in no record: prose such as `done in 3.2s`."""
        if any(f.name == "value" for f in self.fields):
            counted = all(f.kind in COUNTING for f in self.fields[:-1])
            unnamed = any(f.kind == "counter" and not f.name for f in self.fields)
            # Not in a prefix, nor the time between a step with its share and its loss.
            among = not self.shared and any(span > self.spans[0] for span in self.others)
            if not counted or among or (unnamed and self.others):
                self.fields.clear()
        if any(
            f.kind in ("counter", "within") or (f.kind == "metric" and not is_loose(f)) for f in self.fields
        ):
            return
        self.others += self.spans
        self.fields.clear()
        self.spans.clear()

    def ratio(self, token: re.Match[str]) -> None:
        """`a/b`: a counter and what it runs up to, or a share (`Accuracy: 98/100`)."""
        gap = self.line[max(self.floor, token.start() - REACH) : token.start()]
        key = key_before(gap)
        self.side = role_in(key.lead) or self.side
        behind_prefix = not self.fields and gap.endswith(
            (": [", "- [", "| [")
        )  # `[rank0]: [4/24] loss: 0.3`
        counter = counter_of(key.text) if key.text and not role_only(key.text) else None
        if counter is not None:
            self.side = role_of_key(key.text) or self.side
            pair = (
                Field(counter[0], "counter", counter[1], whole=True),
                Field(counter[0], "total", whole=True),
            )
        elif not key.text or role_only(key.text) or behind_prefix:
            self.side = role_of_key(key.text) or self.side
            bar = "bar" if KERAS_BAR.match(self.line, token.end()) else ""
            pair = (Field(bar, "within", 2, whole=True), Field(bar, "total", whole=True))
        elif evidence(key.text) == 2 and metric_name(key, ""):
            name = self.side_name(metric_name(key, ""))
            pair = (Field(name, "metric"), Field(name, "divisor"))
        else:
            self.others += [token.span("part"), token.span("whole")]
            self.last_kind = ""
            return
        self.fields += pair
        self.spans += [token.span("part"), token.span("whole")]
        self.last_kind = pair[1].kind

    def side_name(self, name: str) -> str:
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


def is_loose(field: Field) -> bool:
    """Whether a field has no key: `3ms/step`, `in 2.5s`."""
    return field.name == "duration" or (
        "/" in field.name and field.name.split("/")[0] in (*TIME, "it", "iter", "step")
    )


def value_is_whole(token: re.Match[str]) -> bool:
    """Whether a value is an integer however it is printed (`global_step=18.00`)."""
    whole, _, rest = token["value"].replace(",", "").partition(".")
    return whole.isdigit() and not rest.strip("0")
