"""What Kaldi's neural networks report: sentences, with the iteration in the name of the file that `grep` puts
before them (`compute_prob_valid.12.log:`) or as a range of minibatches."""

import re
from collections.abc import Callable

from traindx.readers.textlog.grammar import Field
from traindx.readers.textlog.records import Records

LINE = re.compile(
    r"(?:.*compute_prob_(?P<side>train|valid)\.(?P<iteration>\d+)\.log:)?.*\b(?:Overall|Average) (?P<what>"
    r"log-probability|log-likelihood|accuracy|objective function) for '(?P<output>[\w-]+)'"
    r"(?: for minibatches (?P<first>\d+)-\d+)? is (?P<value>[-+]?\d[\d.e+-]*|-?nan|-?inf) (?:per frame|over)"
)
ITERATION, MINIBATCH = Field("iteration", "counter", 1, whole=True), Field("batch", "counter", 2, whole=True)


class Kaldi:
    def __init__(self, records: Records) -> None:
        self.records = records

    def claims(self, line: str) -> Callable[[str, int], None] | None:
        return self.take if "nnet3" in line and LINE.match(line) else None

    def take(self, line: str, row: int) -> None:
        """Objectives and log-probabilities are log-likelihoods: higher is better."""
        found = LINE.match(line)
        if found is None or found["output"].endswith("-xent"):  # the side task of chain models
            return
        what = "accuracy" if found["what"] == "accuracy" else "log_likelihood"
        metric = Field(f"{'val' if found['side'] == 'valid' else 'train'}/{what}", "metric")
        count = found["iteration"] or found["first"]
        counter = (ITERATION if found["iteration"] else MINIBATCH,) if count else ()
        self.records.put(
            (*counter, metric), [*map(float, filter(None, [count])), float(found["value"])], row
        )
