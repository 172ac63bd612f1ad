"""The words of log lines: counters, sides (train, held out), and names that are never metrics."""

import re
from functools import lru_cache

from traindx.readers.names.aliases import in_english, role_of
from traindx.vocabulary import direction_of

# Counter -> rank; the lower the closer to optimizer steps over the whole run.
RANKED = (
    """global_step globalstep global_steps num_updates total_timesteps num_timesteps timesteps timesteps_total
    total_num_steps env_steps totalenvsteps total_env_steps timestepssofar totalenvinteracts global_iter
    optimizer_step num_env_steps trainer/global_step time/total_timesteps total_steps_done steps_so_far""",
    """step steps iteration iterations iter iters it itr update updates nupdates n_updates n_iter cur_iter cur_step
    current_step current_iter snapshot step_num timestep iter_num niter time/iterations stp itrs ite iterno batch_step
    num_steps n_steps up""",
    "batch batches minibatch mini-batch batch_idx batch_index idx i mb bat tick",
    "epoch epochs ep pass epch epoch_num n_epoch cur_epoch current_epoch e epo",
    "episode episodes num_episodes round trial generation gen eps_num time/episodes",
    "samples tokens images examples frames kimg consumed_samples consumed_tokens num_samples",
)
COUNTERS = {name: rank for rank, names in enumerate(RANKED) for name in names.split()}

# Words that make "... step" or "... iterations" something else than the step counter.
OTHER = """per number num no of total max min skipped skip nan warmup log save eval every best time remaining n for to
    in each between from by loss ms best_epoch planned decay"""
OTHER_COUNTS = frozenset(OTHER.split())
NEVER = """eta required wall train_wall pid port seed rank local_rank gpu gpus gpu_id cuda device line v_num id version
    remaining world_size node worker workers lineno passed bestiteration eta_seconds left time_left patience
    date datetime timestamp elapsed_total job thread process warmup warmup_step loss_weight lr_mult decay_mult
    shape num_workers seq_len num_layers eps betas beta1 beta2"""
SIDE = frozenset(NEVER.split())

# A line like "Validation loss decreased (inf --> 0.8)" repeats values that are printed elsewhere, the older first.
CHANGED = re.compile(r"\b(?:decreased|increased|improved)$", re.IGNORECASE)

TRAIN = r"train|training|trn"
HELD = r"val|valid(?:ate|ation|ating)?|eval|evaluat(?:e|ion|ing)|test|testing|dev|heldout|held-out|holdout"
ROLE = re.compile(rf"(?<![\w./\\-])(?:(?P<train>{TRAIN})|(?P<val>{HELD}))(?![\w/\\-]|\.\w|=)", re.IGNORECASE)
ROLE_ONLY = re.compile(rf"(?:{TRAIN}|{HELD})", re.IGNORECASE)
ROLE_IN_KEY = re.compile(
    rf"(?:^|(?<=[^a-zA-Z]))(?:(?P<train>{TRAIN})|(?P<val>{HELD}))(?=$|[^a-zA-Z]|'s)", re.IGNORECASE
)


# A line that names a side and nothing else. What is being done ("Evaluating ...") heads no numbers.
HEADING = re.compile(
    r"\W*(?:train(?:ing)?|val(?:id(?:ation)?)?|eval(?:uation)?|test|dev)(?: (?:set|results?|metrics|phase))?\s?"
    r"(?:[:\])=*]|-{2})\W*",
    re.IGNORECASE,
)


def role_in(text: str) -> str:
    """ "train", "val" or "" by the last word of a text that names a side."""
    last = ""
    for found in ROLE.finditer(text):
        last = "val" if found["val"] else "train"
    return last


def role_only(key: str) -> bool:
    """Whether a key is nothing but the name of a side ("Train", "[val]")."""
    return bool(ROLE_ONLY.fullmatch(key.strip(" []()\"'*-")))


def role_of_key(key: str) -> str:
    """ "val" or "train" when a key names its own side (`val_loss`, `Train-Accuracy`)."""
    found = [("val" if m["val"] else "train") for m in ROLE_IN_KEY.finditer(key)]
    return "val" if "val" in found else (found[0] if found else "")


def counter_of(key: str) -> tuple[str, int] | None:
    """Name and rank of the counter that a key means, or None. `Training Iteration`, `Epoch(val)`
    and `validation loss at iteration` are counters; `number of skipped iterations` is not."""
    plain = re.sub(r"\(.*?\)", "", in_english(key)).lower().strip(" #:._-[]'\"")
    found = re.search(r"(?:\bat|\bafter|@)\s+(\w+)$", plain)
    if found and COUNTERS.get(found[1], 9) < 5:
        plain = found[1]
    joined = re.sub(r"(?<=\w)_(?:index|idx|number|nr|id)$", "", re.sub(r"\s+", "_", plain))
    if joined in COUNTERS:
        return joined, COUNTERS[joined]
    bare = re.sub(r"[\s_]+", "_", ROLE_IN_KEY.sub("", plain)).strip("_-/ .")
    bare = re.sub(
        r"^(?:current|cur|global|inner|main|(?:in_|on_|at_|during_)?the|in|on|at|during|end_of|start_of|start|end"
        r"|starting|finished|begin)_",
        "",
        bare,
    )
    if bare in COUNTERS:
        return bare, COUNTERS[bare]
    words = plain.split()
    if (
        len(words) > 1
        and COUNTERS.get(words[-1], 9) in (1, 3)
        and not OTHER_COUNTS & set(re.split(r"[\s_]+", plain))
    ):
        return words[-1], COUNTERS[words[-1]]  # `trainer step 5`, `finished training epoch 3`
    return None


def is_side(key: str) -> bool:
    """Whether a key names something that is never a metric: a port, a rank, a time left."""
    plain = key.lower().replace(" ", "_").strip("_-")
    return (
        plain in SIDE
        or plain.startswith(("eta_", "eta(", "rank_"))
        or plain.endswith(("_eta", "_rank", "_pid", "_port"))
    )


# What pix2pix, CycleGAN and similar projects call the losses of a game, whose names say "loss" nowhere.
GAME = re.compile(
    r"(?:D|G|cycle|cyc|idt|idn)_(?:A|B|real|fake|gan|adv|l1|l2|vgg|feat|gan_feat)", re.IGNORECASE
)


SURE = frozenset({"lr", "loss_scale", "grad_norm", "throughput", "perplexity"})


@lru_cache(maxsize=4096)
def evidence(name: str) -> int:
    """How surely a name is that of a training metric: 2 a metric whose better direction is known,
    1 another known signal (rate, time, memory), 0 anything."""
    if GAME.fullmatch(name.rpartition("/")[2]):
        return 2
    signal = role_of(name).signal
    if signal.startswith(("train/", "val/")):
        return 2 if direction_of(signal) != "none" else 0
    known = signal != name or signal.partition("/")[0] in SURE
    return int(bool(signal) and known)
