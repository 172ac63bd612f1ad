"""Faults of the machine: processes that wait for each other or part from each other, and memory that runs out."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.gym.faults.fault import Fault
from benchmarks.gym.ranks import RANKED
from benchmarks.gym.recipe import Recipe

DRAWN_LATER = """
for m in model.modules():
    if hasattr(m, "reset_parameters"):
        m.reset_parameters()
""".strip()
SLOW_READS = """

class SlowReads(TensorDataset):
    def __getitem__(self, index):
        time.sleep(SECONDS)
        return super().__getitem__(index)


if rank == 0:
    train_loader.dataset.__class__ = SlowReads
"""
# What a container allows: memory in use and a little more. What is asked for at once beyond it is refused, not used.
LIMITED = """
with open("/proc/self/statm") as statm:
    present = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (present + (3 << 30), resource.RLIM_INFINITY))
""".strip()


def slow_host(recipe: Recipe, seconds: float) -> Recipe | None:
    """The second process is held up before each forward pass."""
    if recipe.ranks == 1:
        return None
    return replace(recipe, on_batch=f"if rank == 1:\n    time.sleep({seconds})")


def slow_reads(recipe: Recipe, seconds: float) -> Recipe | None:
    """The first process reads its data slowly, the other does not."""
    if recipe.ranks == 1:
        return None
    slow = SLOW_READS.replace("SECONDS", f"{seconds / max(1, recipe.batch // recipe.ranks):.2e}")
    return replace(recipe, shard=recipe.shard + slow)


def bypassed(recipe: Recipe, _: float) -> Recipe | None:
    """The net is called itself, not the wrapper that averages gradients."""
    return replace(recipe, forward="out = model(x)") if recipe.ranks > 1 else None


def own_weights(recipe: Recipe, _: float) -> Recipe | None:
    """Weights are drawn (by each process its own) after the wrapper has made them alike."""
    return replace(recipe, after_optimizer=DRAWN_LATER) if recipe.ranks > 1 else None


def own_steps(recipe: Recipe, every: float) -> Recipe | None:
    """The second process leaves out steps by a rule of its own."""
    if recipe.ranks == 1:
        return None
    return replace(recipe, step=f"if rank == 0 or step % {every:g} == 0:\n    optimizer.step()")


def long_sample(recipe: Recipe, share: float) -> Recipe:
    """Somewhere in the run a batch is far too large."""
    at = f"if step == max(2, int({share:g} * EPOCHS * len(train_loader))):"
    more = "    x = x.repeat((1 << 32) // x.nbytes + 1, *[1] * (x.dim() - 1))"
    imports = "\n".join(filter(None, (recipe.imports, "import resource")))
    return replace(recipe, imports=imports, after_optimizer=LIMITED, on_batch=f"{at}\n{more}")


def all_pairs(recipe: Recipe, share: float) -> Recipe:
    """Before an epoch all values are compared with all others, at once."""
    imports = "\n".join(filter(None, (recipe.imports, "import resource")))
    lines = (
        f"if epoch == max(2, int(EPOCHS * {share:g})):\n"
        "    flat = x_train.flatten().float()[:1 << 16].repeat(1 + (1 << 16) // x_train.numel())[:1 << 16]\n"
        "    apart = flat[:, None] - flat[None, :]"
    )
    return replace(
        recipe, imports=imports, after_optimizer=LIMITED, epoch_start=f"{lines}\n{recipe.epoch_start}"
    )


FAULTS = (
    Fault("slow-host", "straggler-rank", slow_host, (0.02, 0.04), harm="time", settings=RANKED),
    Fault("slow-reads", "straggler-rank", slow_reads, (0.02, 0.04), ("data-loader-bottleneck",), harm="time",
          settings=RANKED),
    Fault("bypassed-wrapper", "rank-desync", bypassed, settings=RANKED),
    Fault("own-weights", "rank-desync", own_weights, settings=RANKED),
    Fault("own-steps", "rank-desync", own_steps, (3, 20), settings=RANKED),
    Fault("long-sample", "out-of-memory", long_sample, (0.1, 0.6), harm="end", sees=("end",)),
    Fault("all-pairs", "out-of-memory", all_pairs, (0.3, 0.8), harm="end", sees=("end",)),
)  # fmt: skip
