"""Games: nets that work against each other, each with its own loss, as a log's names show."""

import re
from collections.abc import Iterable

GENERATORS = frozenset({"g", "gen", "generator", "lossg", "gloss", "errg"})
DISCRIMINATORS = frozenset(
    {"d", "dis", "disc", "discr", "discriminator", "critic", "lossd", "dloss", "errd", "lossdisc"}
)
# Terms of a generator's loss that measure something by themselves: these do show progress.
MEASURES = frozenset(
    {
        "l1",
        "l2",
        "mse",
        "cycle",
        "cyc",
        "idt",
        "identity",
        "vgg",
        "feat",
        "fm",
        "perceptual",
        "lpips",
        "recon",
        "rec",
    }
    | {"reconstruction", "mel", "style", "content", "pixel", "percep"}
)
# Terms of either player's loss; only next to a player are they names of losses.
TERMS = frozenset({"gan", "adv", "real", "fake", "gp", "r1", "fool"})


def words_of(name: str) -> list[str]:
    """Words of a name without its split; a call (`D(G(z))` is a probability, no loss) has none."""
    last = name.rsplit("/", 1)[-1].lower()
    return [] if "(" in last else [w for w in re.split(r"[^a-z0-9]+", last) if w]


def player_of(name: str) -> str:
    """ "generator", "discriminator" or "" by the words of a name; a measure (`G_L1`) is neither."""
    words = set(words_of(name))
    if words & MEASURES:
        return ""
    if words & DISCRIMINATORS or any(w.endswith("netd") for w in words):
        return "discriminator"
    return "generator" if words & GENERATORS or any(w.endswith("netg") for w in words) else ""


def is_duel(names: Iterable[str]) -> bool:
    """Whether both a generator and a discriminator have names of their own, or a discriminator is logged with the
    penalty on its gradient, or is spelled out."""
    named = list(names)
    players = {player_of(n) for n in named}
    penalty = any("gp" in words_of(n) for n in named)
    spelled = any("discriminator" in words_of(n) for n in named)  # against a net whatever it is called
    return "discriminator" in players and ("generator" in players or penalty or spelled)


def is_term(name: str) -> bool:
    """Whether a name is that of a loss in a game: of a player, a measure, or a term."""
    return bool(set(words_of(name)) & (GENERATORS | DISCRIMINATORS | MEASURES | TERMS))
