"""The shapes that a training script comes in; a line `@name` takes the part of that name."""

from __future__ import annotations

FLAT = """
import math
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
@imports

@constants

torch.manual_seed(SEED)
np.random.seed(SEED)

@data

@tensors


@net


model = Net()
@init
@criterion
@optimizer
@scheduler
@every
@log_setup

step = 0
started = time.time()
for epoch in range(1, EPOCHS + 1):
    epoch_started = time.time()
    @epoch_start
    running, seen = 0.0, 0
    for i, (x, y) in enumerate(train_loader):
        @log_batch
        @on_batch
        @zero
        @forward
        @loss
        @backward
        @norm
        @step
        @scheduler_step
        step += 1
        running += loss.item() * len(x)
        seen += len(x)
        @log_step
    train_loss = running / seen
    @evaluate
    @scheduler_epoch
    @log_epoch
@log_end
"""

FUNCTIONS = """
import math
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset
@imports

@constants

np.random.seed(SEED)
torch.manual_seed(SEED)

@data

@tensors


@net


model = Net()
@init
@optimizer
@scheduler
@criterion
@every
@log_setup
step = 0
started = time.time()


def train_one_epoch(epoch):
    @globals
    @epoch_start
    running, seen = 0.0, 0
    for i, (x, y) in enumerate(train_loader):
        @log_batch
        @on_batch
        @forward
        @loss
        @zero
        @backward
        @norm
        @step
        @scheduler_step
        step += 1
        running += loss.item() * len(x)
        seen += len(x)
        @log_step
    return running / seen


@def_evaluate

for epoch in range(1, EPOCHS + 1):
    epoch_started = time.time()
    train_loss = train_one_epoch(epoch)
    @call_evaluate
    @scheduler_epoch
    @log_epoch
@log_end
"""

# Two processes: `model` is the net, `ddp` the net whose gradients are averaged.
RANKS = """
import datetime
import math
import multiprocessing
import os
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
@imports

WORLD = 2
@constants

torch.manual_seed(SEED)
np.random.seed(SEED)

@data

@tensors
train_set = train_loader.dataset


@net


@criterion


def train(rank):
    meeting = "file://" + os.path.abspath("meeting")
    patience = datetime.timedelta(seconds=60)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=WORLD, timeout=patience)
    torch.manual_seed(SEED + rank)
    @shard
    model = Net()
    @init
    ddp = DistributedDataParallel(model)
    @optimizer
    @scheduler
    @every
    if rank == 0:
        pass
        @log_setup
    step = 0
    started = time.time()
    for epoch in range(1, EPOCHS + 1):
        epoch_started = time.time()
        @epoch_start
        running, seen = 0.0, 0
        for i, (x, y) in enumerate(train_loader):
            if rank == 0:
                pass
                @log_batch
            @on_batch
            @zero
            @forward
            @loss
            @backward
            @norm
            @step
            @scheduler_step
            step += 1
            running += loss.item() * len(x)
            seen += len(x)
            if rank == 0:
                pass
                @log_step
        train_loss = running / seen
        if rank == 0:
            pass
            @evaluate
        @scheduler_epoch
        if rank == 0:
            pass
            @log_epoch
    if rank == 0:
        pass
        @log_end
    dist.barrier()
    dist.destroy_process_group()
    return model, step


other = multiprocessing.get_context("fork").Process(target=train, args=(1,))
other.start()
model, step = train(0)
other.join()
"""

SKELETONS = {"flat": FLAT, "functions": FUNCTIONS, "ranks": RANKS}
