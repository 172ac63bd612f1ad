"""Training in two processes that average their gradients: the shape of its script, and healthy settings for it.

The processes are forked by the script, as `multiprocessing` does, and meet in a file; what is logged is rank 0's."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.gym.recipe import Recipe
from benchmarks.gym.settings import SETTINGS

# The order of the rows of files that were written class by class; every process reads its own, of equal length.
FILES = """
order = torch.argsort(y_train.float(), stable=True)[: len(y_train) // WORLD * WORLD]
own = order.reshape(WORLD, -1)[rank]
train_loader = DataLoader(TensorDataset(x_train[own], y_train[own]), batch_size=max(1, BATCH // WORLD), shuffle=True)
""".strip()
SAMPLER = """
sampler = torch.utils.data.DistributedSampler(train_set, WORLD, rank, seed=SEED)
train_loader = DataLoader(train_set, batch_size=max(1, BATCH // WORLD), sampler=sampler)
""".strip()


def ranked(name: str, shard: str, **changes: object) -> Recipe:
    """A setting, in two processes."""
    base = next(r for r in SETTINGS if r.setting == name)
    own = {"setting": f"{name}-ranks", "ranks": 2, "shard": shard, "forward": "out = ddp(x)", **changes}
    return replace(base, **own)  # type: ignore[arg-type]


RANKED: tuple[Recipe, ...] = (
    ranked("digits-mlp-sgd", FILES),
    ranked("clusters-mlp-onecycle", SAMPLER, epoch_start="sampler.set_epoch(epoch)\nmodel.train()"),
    ranked("friedman-mlp-adam", FILES),
    ranked("digits-cnn-adam", FILES),
)
