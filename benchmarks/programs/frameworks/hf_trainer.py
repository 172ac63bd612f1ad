"""Texts by a small BERT: metrics, early stopping, the best model at the end, resumed from a checkpoint."""

import hashlib
import os
import tempfile

import numpy as np
import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    EarlyStoppingCallback,
    Trainer,
    TrainingArguments,
    set_seed,
)

set_seed(0)
chance = np.random.default_rng(0)
tokens = chance.integers(5, 60, (192, 12))
labels = ((tokens < 20).sum(1) > (tokens > 45).sum(1)).astype(int)
rows = [
    {"input_ids": torch.tensor(t), "attention_mask": torch.ones(12, dtype=torch.long), "labels": int(label)}
    for t, label in zip(tokens, labels, strict=False)
]
folder = tempfile.mkdtemp()


def trainer():
    config = BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
                        max_position_embeddings=16, num_labels=2)  # fmt: skip
    set_seed(1)
    arguments = TrainingArguments(
        folder, learning_rate=1e-3, per_device_train_batch_size=16, per_device_eval_batch_size=32, num_train_epochs=4,
        eval_strategy="epoch", save_strategy="epoch", load_best_model_at_end=True, metric_for_best_model="accuracy",
        weight_decay=0.01, logging_steps=5, report_to=[], disable_tqdm=True, use_cpu=True, seed=1,
    )  # fmt: skip
    return Trainer(
        model=BertForSequenceClassification(config), args=arguments, train_dataset=rows[:128], eval_dataset=rows[128:],
        compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
        callbacks=[EarlyStoppingCallback(early_stopping_patience=2)],
    )  # fmt: skip


def told(history):
    times = ("runtime", "per_second", "total_flos")
    for row in history:
        print({name: value for name, value in row.items() if not any(word in name for word in times)})


first = trainer()
first.train()
told(first.state.log_history)
again = trainer()
again.train(resume_from_checkpoint=os.path.join(folder, "checkpoint-16"))
told(again.state.log_history[-3:])
print(hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in again.model.parameters())).hexdigest())
