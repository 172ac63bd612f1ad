"""A small GPT-2 on packed tokens with `Trainer`, accumulation and a cosine schedule."""

import hashlib
import tempfile

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, default_data_collator, set_seed

set_seed(2)
stream = np.tile(np.random.default_rng(1).integers(0, 50, 40), 100)
rows = [
    {"input_ids": torch.tensor(stream[i : i + 16]), "labels": torch.tensor(stream[i : i + 16])}
    for i in range(0, 2400, 16)
]
model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=16, n_embd=32, n_layer=2, n_head=2))
arguments = TrainingArguments(
    tempfile.mkdtemp(), per_device_train_batch_size=4, gradient_accumulation_steps=4, learning_rate=2e-3, max_steps=24,
    lr_scheduler_type="cosine", warmup_steps=3, max_grad_norm=1.0, logging_steps=2, save_steps=12, report_to=[],
    disable_tqdm=True, use_cpu=True, seed=2,
)  # fmt: skip
trainer = Trainer(model=model, args=arguments, train_dataset=rows, data_collator=default_data_collator)
trainer.train()
for row in trainer.state.log_history:
    print({name: row[name] for name in ("loss", "grad_norm", "learning_rate", "step") if name in row})
print(hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest())
