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

SKELETONS = {"flat": FLAT, "functions": FUNCTIONS}
