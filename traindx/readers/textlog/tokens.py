"""What is a number in a log line, and what only resembles one.

One regular expression cuts a line into tokens: dates, clock times and durations, versions, ratios (`29020/
311541`) and plain numbers with the unit glued to or standing behind them. It is used only when a line of a
new shape is met; known lines are read by their template."""

import re

from traindx.readers.names.aliases import COUNTING_WORDS

UNIT = (
    r"%|[munµ]s(?:ecs?|econds?)?|s(?:ecs?|econds?)?|min(?:s|utes?)?|h(?:rs?|ours?)?"
    r"|[KMGT]i?B(?:ytes)?|[kKMGTB]|bytes|dB|x|TFLOPs?|GFLOPs?"
)
PER = (
    r"(?:samples?|images?|imgs?|it(?:er(?:ation)?s?)?|steps?|tokens?|toks?|batch(?:es)?|epochs?|examples?|frames?|seqs?|sents?"
    r"|words?)"
)
RATE = rf"(?:(?:{PER}|[munµ]?s(?:ec(?:ond)?)?)\s?/\s?(?:{PER}|[munµ]?s(?:ec(?:ond)?)?)|Hz(?!\w))"
STANDING = (
    r"(?:ms|secs?|seconds?|minutes?|mins?|hours?|hrs?|[KMGT]i?B|bytes|BPC|BPB|bpc|bpb|bits|nats|dB|FPS|fps"
    r"|TFLOPs?|TFLOPS)"
)

# `3h 11m 16s`, `3 hours, 11 minutes and 16.97 seconds`.
MINUTES, SECONDS, AND = r"m(?:in(?:ute)?s?)?", r"s(?:ec(?:ond)?s?)?", r"[\s:,]*(?:and\s+)?"
# `Mon Nov 12 14:03:54 2018`, as `ctime` prints.
MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
# Counters whose number may come after a dash or a number sign, or at once: `epoch-3`, `Step #12`, `Batch50`.
NUMBERED = "|".join(
    (
        r"(?:global_|optimizer_)?(?:step|iter(?:ation)?|epoch|update|batch|episode|round)",
        "it",
        *COUNTING_WORDS,
    )
)

# Words that begin the next name where a program forgot what is between (`loss:0.52acc:0.8`), and what ends the name of
# a file: `models/0012.pt` holds no value.
GLUED = r"Epoch|Loss|Acc|Accuracy|Step|Val|Validation|Train|Training|Test"
FILE = r"\.(?:pth?|ckpt|h5|keras|npy|npz|pkl|png|jpe?g|csv|txt|json|log)\b"

# `0,345`, `2,5`, `2,3456`: three digits after another comma are thousands.
DECIMAL_COMMA = r"(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))"

TOKEN = re.compile(
    rf"""
    (?P<date>(?<![\w.])(?:
        \d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?:[T\s_]+\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:[.,:]\d+)?)?)?
          (?:Z|\s?[+-]\d\d:?\d\d)?
        |\d{{1,2}}[/-]\d{{1,2}}(?:[/-]\d{{2,4}})?[T\s]+\d{{1,2}}:\d{{2}}:\d{{2}}(?:[.,]\d+)?)(?:(?!\w)|(?<=\d\d:\d\d:\d\d)(?=[A-Za-z]{{2}})))
    |(?P<glog>(?<=^[IWEF])\d{{4}}\s+\d\d:\d\d:\d\d\.\d+\s+\d+)
    |(?P<clock>(?<![\w.])(?:\d+\s*(?:days?|d),?\s*)?\d{{1,5}}:\d{{2}}(?::\d{{2}})?(?:[.,]\d+)?(?![\w:]|\.\d)
      |(?<![\w.])\d+\s?h(?:ours?|rs?)?[\s:,]*\d+\s?{MINUTES}(?:{AND}\d+(?:\.\d+)?\s?{SECONDS})?(?!\w)
      |(?<![\w.])\d+\s?{MINUTES}{AND}\d+(?:\.\d+)?\s?{SECONDS}(?!\w)|(?<![\w.])\d+\s+days?(?!\w)
      |(?:(?<={MONTH}\s)|(?<={MONTH}\s\s))\d{{1,2}}(?=,?\s+(?:\d{{4}},?\s+)?\d{{1,2}}:\d\d))
    |(?P<version>(?<![\w.])\d+\.\d+\.\d+[\w.+-]*|(?<!\w)0x[0-9a-f]+)
    |(?P<numbered>(?<![\w./\\-])(?P<thing>{NUMBERED})(?:\s?[-\#]\s?|(?<=epoch)|(?<=batch)|(?<=iter)|(?<=iteration))(?P<count>\d+)(?![\w-]|\.\w))
    |(?P<ordinal>(?<![\w.])(?P<nth>\d+)(?:(?:st|nd|rd|th)\s(?:mini-?)?(?P<of>{NUMBERED})(?!\w)
      |(?P<glued>epoch|iter(?:ation)?|step|round)(?![\w/])))
    |(?P<chinese>第\s?(?P<place>\d+)(?:\s?/\s?\d+)?\s?个?\s?(?P<what>{NUMBERED}|次迭代|次|回))
    |(?P<ratio>(?<![\w.@#/])(?<!\w-)(?P<part>\d+)(?:\s*/\s*|\sof\s)(?P<whole>\d+)(?![\w/]|\.\d)(?:\s*\(\s*\d+(?:\.\d+)?\s*%\s*\))?)
    |(?P<done>(?:(?<=^)|(?<=[(\[])|(?<=[\])|:]\s)|(?<=\s\s))(?P<steps>\d+)\s\d{{1,3}}%(?=[\s)\]]))
    |(?P<num>(?<![\w.@#])(?<!\w-)(?<!@0\.5:)(?<!@0\.50:)
      (?P<value>(?<![\[(,])\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?(?!,?\d)
        |(?:(?<=[:=])|(?<=[:=]\s))[-+]?{DECIMAL_COMMA}(?![,\d])
        |[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|[-+]?(?:nan|inf(?:inity)?)(?=(?:16|32)?(?!(?u:\w))))
      (?:(?<=[nNfF])(?:\.0(?!\d)|16|32)|(?<=\d)f0(?!\w))?
      (?:(?P<rate>\s?{RATE})(?!\w)|(?P<unit>{UNIT})(?!\w)|(?P<standing>\s{STANDING})(?![\w/]))?
      (?:(?![\w])(?!\.\d)(?!{FILE})(?!-[a-z0-9])|(?=(?:{GLUED})[\s:=_])))
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)

FULL_WIDTH = str.maketrans("：，；（）【】＝｜", ":,;()[]=|")
BULLET = re.compile(r"(?<= )[–—•·](?= )")
LEADERS = re.compile(r"(?<=\w)\.{2,}:")
ANGLES = re.compile(r"<(\w+[=:] ?\d+)>")
ABOUT = re.compile(r"(?<=[:= ])~(?=[^\s/])")
# A number that is printed with its type: `tensor(0.5, device='cuda:0')`, `np.float64(0.5)`, `Array(0.5, dtype=float32)`.
TYPED = re.compile(
    r"(?P<before>\b(?:\w+\.)?(?:[Tt]ensor|(?:Device)?[Aa]rray|b?float\d+|u?int\d+)\(\[?)\s*[-+.\w]+"
    r"(?P<after>\]?\s*(?:,[^()]*(?:\([^()]*\)[^()]*)?)?\))"
)
# What mpirun, the system's log, and Python's logging without a format write before a line.
TAG = re.compile(
    r"^(?:\[\d+,\d+\]<std(?:out|err)>:|(?:DEBUG|INFO|WARNING):[\w.]+:"
    r"|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d [\w.-]+ [\w./-]+\[\d+\]: )"
)
SHARE_DONE = re.compile(r"\d+%(?=\|[^|]*\|\s*\d[\w.]*/\d)")  # `Computing loss:  8%|8    | 1/13`

SCALE = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "b": 1e9}
POWERS = (("b", 0), ("k", 10), ("m", 20), ("g", 30), ("t", 40))
MEMORY = {"bytes": 1.0} | {letter + tail: 2.0**power for letter, power in POWERS for tail in ("", "b", "ib")}
TIME = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
TIMED = re.compile(r"time|elapsed|duration", re.IGNORECASE)
MEMORY_WORDS = ("mem", "ram", "vram", "alloc", "reserved", "rss", "cache")


def short_unit(unit: str) -> str:
    """One spelling of a unit: "seconds" and "secs" are "s", "Minutes" is "min"."""
    plain = unit.strip().replace(" ", "")
    low = plain.lower()
    for stem, short in (
        ("msec", "ms"),
        ("usec", "us"),
        ("nsec", "ns"),
        ("sec", "s"),
        ("min", "min"),
        ("hour", "h"),
        ("hr", "h"),
        ("hz", "it/s"),
    ):
        if low.startswith(stem) and "/" not in low:
            return short
    return low if low in TIME else plain


def scale_of(key: str, unit: str) -> tuple[float, str]:
    """What a glued unit letter does to the value, and the unit that remains.

    `15.2k` of a loss is 15200; `5.05G` and `2996M` of a memory keep their number and unit; `1.35m` of a time is minutes."""
    low = unit.lower()
    if unit == "m" and TIMED.search(key):
        return 1.0, "min"
    if low in SCALE and len(low) == 1:
        if any(word in key.lower() for word in MEMORY_WORDS):
            return 1.0, unit.upper()
        return SCALE[low], ""
    return 1.0, "" if low == "x" else unit


def in_common_unit(units: list[str]) -> tuple[list[float], str]:
    """Factors that bring values with different units to one unit, and that unit; times go to
    seconds, memory to bytes, anything else stays as it is."""
    kinds = set(units)
    if len(kinds) == 1:
        return [1.0] * len(units), units[0]
    for table, name in ((TIME, "s"), (MEMORY, "bytes")):
        if all(u.lower() in table for u in kinds):
            return [table[u.lower()] for u in units], name
    return [0.01 if u == "%" else 1.0 for u in units], ""


def plain_marks(line: str) -> str:
    """A line of the same length with plain punctuation: marks of full width, bullets between metrics, leaders
    (`loss....: 0.5`), `~` before a number, and the tag of mpirun become what the grammar knows. The share that
    a progress bar shows is no value of the word before it."""
    if not line.isascii():
        line = BULLET.sub("|", line.translate(FULL_WIDTH))
    if "..:" in line:
        line = LEADERS.sub(lambda found: ":" + " " * (len(found[0]) - 1), line)
    if " ... " in line:
        line = line.replace(" ... ", "  |  ")  # `EPOCH 3 ... Validation Accuracy = 0.81`
    if "%|" in line:
        line = SHARE_DONE.sub(lambda found: " " * len(found[0]), line.replace("?it/s", " " * 5))
    if "~" in line:
        line = ABOUT.sub(" ", line)
    if "<" in line:
        line = ANGLES.sub(r"[\1]", line)
    if ")" in line:
        line = TYPED.sub(without_type, line)
    return TAG.sub(lambda found: " " * len(found[0]), line)


def without_type(found: re.Match[str]) -> str:
    """The number of `tensor(0.5)` with blanks in place of the rest."""
    number = found[0][len(found["before"]) : len(found[0]) - len(found["after"])]
    if "[" in found["before"] and "]" not in found["after"]:
        return found[0]  # the first of several numbers
    return " " * len(found["before"]) + number + " " * len(found["after"])
