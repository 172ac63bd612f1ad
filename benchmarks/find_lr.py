"""Whether suggested learning rates are any good: `python -m benchmarks.find_lr [--table FILE] [NET…]`.

Each of ten small nets (find_lr_nets.py; five were made after the rule of reading was set) is trained at nine rates,
with two seeds. The *band* of a net holds the rates that end within a tenth of the gain of the best one. Then everybody
searches twice: `traindx find-lr` (as a command, on the unmodified script), torch-lr-finder and Lightning's Tuner, each
with its own defaults, where they are installed (`pip install torch-lr-finder lightning`). Counted is how often the
suggestion lies in the band, and by which factor it misses it. Lightning takes slopes against the rate itself; `per
step` reads its own sweep by the slope against the number of the step, which is what torch-lr-finder does.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.find_lr_nets import NETS, UNSEEN, Net, loader, losses, made

RATES = np.logspace(-4, 0, 9)
STEPS, SEEDS = 300, (11, 12)
NEAR = 0.1  # of what the best rate gains, by which one of the band may end above it
LOWEST, HIGHEST = 1e-7, 10.0
SCRIPT = Path(__file__).with_name("find_lr_nets.py")


class Band(NamedTuple):
    low: float
    high: float
    best: float

    def miss(self, rate: float) -> float:
        """By which factor a rate lies outside of the band; 1 inside, NaN for none."""
        return float(np.max([self.low / rate, rate / self.high, 1.0]))


def band(name: str) -> Band:
    """Train at all rates; between them the final loss is interpolated over log rate."""
    finals, starts = [], []
    for rate in RATES:
        curves = [np.array(list(losses(made(name, seed), float(rate), STEPS))) for seed in SEEDS]
        finals.append(np.mean([np.mean(c[-STEPS // 10 :]) for c in curves]))
        starts.append(np.mean([c[0] for c in curves]))
    levels = np.where(np.isfinite(finals), finals, np.inf)
    start, best = float(np.mean(starts)), float(levels.min())
    fine = np.linspace(np.log10(RATES[0]), np.log10(RATES[-1]), 801)
    between = np.interp(fine, np.log10(RATES), np.minimum(levels, 10 * start))
    good = 10 ** fine[between <= best + NEAR * (start - best)]
    return Band(float(good.min()), float(good.max()), float(RATES[int(levels.argmin())]))


Finder = Callable[[str, int], dict[str, float]]  # net, number of the search -> suggestions


def ours(name: str, search: int) -> dict[str, float]:
    """The command, on the script, with two seeds."""
    seeds = f"{2 * search},{2 * search + 1}"
    command = [
        sys.executable,
        "-m",
        "traindx.cli.main",
        "find-lr",
        "-q",
        "-f",
        "json",
        "--seeds",
        seeds,
        "--",
    ]
    done = subprocess.run([*command, sys.executable, str(SCRIPT), name], capture_output=True, check=False)
    found = json.loads(done.stdout)["suggested"] if done.returncode == 0 else None
    return {"traindx": float("nan") if found is None else found}


def lr_finder(name: str, search: int) -> dict[str, float]:
    """torch-lr-finder as its README shows it."""
    from torch_lr_finder import LRFinder

    net = made(name, search)
    finder = LRFinder(net.model, net.optimizer(net.model.parameters(), LOWEST), net.loss, device="cpu")
    finder.range_test(loader(net), end_lr=HIGHEST, num_iter=100)
    from matplotlib.figure import Figure

    _, rate = finder.plot(ax=Figure().add_subplot())
    return {"torch-lr-finder": float(rate)}


def tuner(name: str, search: int) -> dict[str, float]:
    """Lightning's Tuner; and its sweep read by the slope per step."""
    import lightning
    from lightning.pytorch.tuner import Tuner

    net = made(name, search)
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            default_root_dir=folder, max_epochs=10, logger=False, enable_progress_bar=False, enable_model_summary=False,
            enable_checkpointing=False, accelerator="cpu",
        )  # fmt: skip
        found = Tuner(trainer).lr_find(lightning_module(net), loader(net))
    assert found is not None
    rates, swept = np.array(found.results["lr"][10:-1]), np.array(found.results["loss"][10:-1])
    return {
        "Lightning": float(found.suggestion() or "nan"),
        "Lightning, per step": float(rates[np.gradient(swept).argmin()]),
    }


def lightning_module(net: Net) -> Any:
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net, self.lr = net.model, 1e-3

        def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], _: int) -> torch.Tensor:
            return net.loss(self.net(batch[0]), batch[1])

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return net.optimizer(self.parameters(), self.lr)

    return Module()


FINDERS: tuple[Finder, ...] = (ours, lr_finder, tuner)


def searched(name: str) -> dict[str, list[float]]:
    """What everybody who is installed suggests for a net, in two searches each."""
    found: dict[str, list[float]] = {}
    for finder in FINDERS:
        for search in range(2):
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    told = finder(name, search)
            except ModuleNotFoundError as missing:
                print(f"  left out: {missing}", file=sys.stderr)
                break
            for who, rate in told.items():
                found.setdefault(who, []).append(rate)
    return found


def table(bands: dict[str, Band], found: dict[str, dict[str, list[float]]]) -> str:
    everybody = list(dict.fromkeys(who for told in found.values() for who in told))
    lines = [
        f"| net | trains best at | band | {' | '.join(everybody)} |",
        "|---|---:|---|" + "---|" * len(everybody),
    ]
    for name, told in found.items():
        cells = [", ".join(cell(rate, bands[name]) for rate in told.get(who, ())) for who in everybody]
        inside = bands[name]
        lines.append(
            f"| {name} | {inside.best:.2g} | {inside.low:.2g} to {inside.high:.2g} | {' | '.join(cells)} |"
        )
    for title, nets in (
        ("inside", list(found)),
        ("inside, of the unseen", [name for name in found if name in UNSEEN]),
    ):
        off = [
            [bands[name].miss(rate) for name in nets for rate in found[name].get(who, ())]
            for who in everybody
        ]
        counts = [f"{sum(o == 1.0 for o in some)} of {len(some)}" for some in off]
        lines.append(f"| **{title}** | | | {' | '.join(counts)} |")
        if title == "inside":
            worst = [f"{max(some, default=1.0):.2g}" for some in off]
            lines.append(f"| largest factor outside | | | {' | '.join(worst)} |")
    return "\n".join(lines)


def cell(rate: float, good: Band) -> str:
    words = "none" if np.isnan(rate) else f"{rate:.2g}"
    return f"**{words}**" if good.miss(rate) == 1.0 else words


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("nets", nargs="*", metavar="NET", help=f"of {', '.join(NETS)}; default: all")
    parser.add_argument("--table", type=Path, help="write the table into this file")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    begun = time.monotonic()
    bands, found = {}, {}
    for name in given.nets or NETS:
        bands[name] = band(name)
        found[name] = searched(name)
        print(
            f"{name}: {bands[name]}, {found[name]} ({time.monotonic() - begun:.0f} s)",
            file=sys.stderr,
            flush=True,
        )
    text = table(bands, found)
    print(text)
    if given.table:
        given.table.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
