"""Words and numbers as people read them, and text from logs made harmless. Shared by all reports."""

import math
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from numbers import Real

from traindx.vocabulary import Decision, Health, NextMeasure, RunInfo, wording

HEALTH_WORDS: dict[Health, str] = {
    "healthy": "HEALTHY",
    "watch": "WATCH",
    "sick": "SICK",
    "failed": "FAILED",
}
HEALTH_RANK: dict[Health, int] = {"healthy": 0, "watch": 1, "sick": 2, "failed": 3}

EVEN = 0.5  # a decision that is no surer than a coin is given without its probability
LIKELY, MAYBE = 0.5, 0.2  # shares of what is open that a measurement is expected to settle
FIX_KINDS = ("runtime", "patch", "advice")
NO_MEASURE = (  # signals of no progress
    "epoch", "lr", "grad_", "time/", "mem/", "util/", "throughput", "rank/", "optimizer/", "loss_scale",
    "skipped_steps",
)  # fmt: skip
NAME_LIMIT = 80  # characters of a run's or signal's name
TEXT_LIMIT = 600  # characters of a message

FRAMEWORKS = {
    "hf": "Hugging Face Trainer", "transformers": "Hugging Face Trainer", "lightning": "Lightning", "keras": "Keras",
    "jax": "JAX",
    "pytorch": "PyTorch", "torch": "PyTorch", "wandb": "W&B", "mlflow": "MLflow", "tensorboard": "TensorBoard",
}  # fmt: skip


def visible(text: object) -> str:
    """`text` on one line with every control, escape, bidi and invisible character spelled out
    ("\\x1b", "\\u202e"), so that it cannot act on a terminal or reorder its surroundings."""
    string = text if isinstance(text, str) else str(text)
    return string if string.isprintable() else "".join(map(_visible_character, string))


def _visible_character(c: str) -> str:
    if c.isprintable():
        return c
    return " " if unicodedata.category(c) == "Zs" else c.encode("unicode_escape").decode("ascii")


def clean(text: object, limit: int = TEXT_LIMIT) -> str:
    """`visible(text)`, at most `limit` characters: the middle is left out of what is longer.
    Costs no more for a text of a million characters than for a short one."""
    string = text if isinstance(text, str) else str(text)
    string = visible(_shorten(string, limit))
    return _shorten(string, limit)


def name(text: object, limit: int = NAME_LIMIT) -> str:
    """A name (of a run, signal, file) made harmless and short."""
    return clean(text, limit)


def _shorten(string: str, limit: int) -> str:
    if len(string) <= limit:
        return string
    tail = (limit - 1) // 2
    return string[: limit - 1 - tail] + "…" + (string[-tail:] if tail else "")


def sentence(text: object, limit: int = TEXT_LIMIT) -> str:
    """A message made harmless, with a capital at its beginning (unless that is a signal's name) and a
    full stop at its end."""
    words = clean(text, limit).strip()
    if words.startswith("lr "):
        words = "The learning rate" + words[2:]
    if words.partition(" ")[0].rstrip(",;:").isalpha():
        words = words[:1].upper() + words[1:]
    return words + ("" if words.endswith((".", "!", "?", "…")) else ".") if words else ""


def wrap_text(text: str, width: int) -> str:
    """`text` in lines shorter than a terminal of `width` columns, none of which breaks a word or a path; in one line
    where the width is 0, for unknown."""
    if not width:
        return text
    import textwrap

    return textwrap.fill(
        text, width - 1, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def cells(text: str) -> int:
    """Columns that a printable text takes in a terminal."""
    return len(text) if text.isascii() else sum(_cell(c) for c in text)


@lru_cache(4096)
def _cell(c: str) -> int:
    if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def number(value: object) -> str:
    """A measured value with about four digits: 0.3127, 1,234, 8.1e4, 2e-5, NaN, infinity."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return clean(value, NAME_LIMIT)
    value = float(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("infinity" if value > 0 else "-infinity")
    size = abs(value)
    if value == int(value) and size < 1e7:
        return f"{int(value):,}"
    if size >= 1e6 or size < 1e-3:
        mantissa, _, exponent = f"{value:.3e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return f"{value:,.0f}" if size >= 1e3 else f"{value:.4g}"


def metric(signal: str) -> str:
    """What a reader calls a signal: "balanced accuracy of the training batches" for what capture computes from the
    outputs, and the signal's own name for all that the script reports."""
    if not signal.startswith("outputs_"):
        return signal
    words = signal.removeprefix("outputs_").replace("explained", "explained variance").replace("_", " ")
    return f"{words} of the training batches"


def step(value: float | None) -> str:
    """A place on the step axis: 12,000 or 2.25."""
    return "?" if value is None else wording.format_step(value) if math.isfinite(value) else number(value)


def axis(run: RunInfo) -> str:
    """What this run's step axis counts, in the singular."""
    word = name(run.axis or "step", 24).lower()
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def since_onset(run: RunInfo, onset: float | None) -> str:
    """ "since step 1,210", or "" where the onset is not known."""
    return "" if onset is None else f"since {axis(run)} {step(onset)}"


def extent(run: RunInfo) -> str:
    """How much there is of a run: "1,500 points, steps 0–29,980"."""
    points = f"{run.steps:,} point" + ("" if run.steps == 1 else "s")
    if run.first_step is None or run.last_step is None:
        return points
    if run.first_step == run.last_step:
        return f"{points}, {axis(run)} {step(run.last_step)}"
    return f"{points}, {axis(run)}s {step(run.first_step)}–{step(run.last_step)}"


def estimate(value: float) -> str:
    """A number with three digits, for estimates."""
    return number(float(f"{value:.3g}")) if math.isfinite(value) else number(value)


def percent(share: float) -> str:
    """A probability in whole percent; never 0 or 100 % for something that is not certain."""
    if not math.isfinite(share):
        return "?"
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1:
        return ">99 %"
    return f"{share * 100:.0f} %"


def probability_range(interval: tuple[float, float]) -> str:
    """Two probabilities: "between 80 and 97 %"; "97 %" where they say the same."""
    low, high = (percent(share) for share in interval)
    return high if low == high else f"between {low.removesuffix(' %')} and {high}"


def likelihood(probability: float) -> str:
    """A probability in words, on the scale of the verdicts' sentences."""
    words = ((0.95, "almost certain"), (0.65, "probable"), (0.35, "possible"))
    return next((word for least, word in words if probability >= least), "unlikely")


def certainty_at_start(probability: float) -> str:
    """The same words as the beginning of a sentence: "Almost certainly", "Probably", "Possibly"."""
    word = likelihood(probability).capitalize()
    return word + "ly" if word.endswith("n") else word.removesuffix("le") + "ly"


def duration(minutes: float) -> str:
    """About how long: "30 s", "12 min", "3.5 h", "6 days"."""
    if not math.isfinite(minutes):
        return "?"
    if minutes < 1:
        return f"{estimate(max(round(minutes * 60), 1))} s"
    for least, size, word in ((60 * 48, 1440, "days"), (90, 60, "h"), (0, 1, "min")):
        if minutes >= least:
            return f"{number(float(f'{minutes / size:.2g}'))} {word}"
    return "0 min"


def sureness_suffix(decision: Decision) -> str:
    """ " (95 % sure)"; "" where it is no surer than a coin."""
    return f" ({percent(decision.confidence)} sure)" if decision.confidence > EVEN else ""


def decision_line(decision: Decision) -> str:
    """The advice on one line: "stop (95 % sure)"."""
    return f"{decision.action}{sureness_suffix(decision)}"


def price_and_worth(item: NextMeasure, open_bits: float) -> str:
    """Price and worth of a measurement that settles part of `open_bits`: "about 12 min, likely to settle it"."""
    share = item.gain_bits / open_bits if open_bits > 0 else 0.0
    worth = (
        "likely to settle it" if share >= LIKELY else "may settle it" if share >= MAYBE else "helps a little"
    )
    return f"about {duration(item.cost_minutes)}, {worth}"


def may_settle(item: NextMeasure, open_bits: float) -> bool:
    """Whether a measurement may settle what is open."""
    return open_bits > 0 and item.gain_bits >= MAYBE * open_bits


def short_path(path: object, limit: int) -> str:
    """A path in at most `limit` characters: of a longer one the last two parts."""
    words = clean(path, 4096)
    return words if len(words) <= limit else name("/".join(words.replace("\\", "/").split("/")[-2:]), limit)


def open_bits(probabilities: Iterable[float]) -> float:
    """Entropy of the causes' probabilities in bits: what is still unknown about the cause."""
    return -sum(p * math.log2(p) for p in probabilities if 0 < p <= 1)


def lower_first(title: object) -> str:
    """A title for the middle of a sentence: its first letter small, unless it begins with an acronym."""
    words = clean(title, TEXT_LIMIT)
    return words if words[:2].isupper() else words[:1].lower() + words[1:]


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def framework(run: RunInfo) -> str:
    """The framework's name, or the format's where no framework is known."""
    word = name(run.framework or run.format, 40)
    return FRAMEWORKS.get(word.lower(), word)
