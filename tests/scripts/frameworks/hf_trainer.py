"""Hugging Face Trainer: a tiny GPT-2 from scratch on synthetic text, warm-up and cosine, evaluation twice."""

import json

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed


class Cycles(torch.utils.data.Dataset):
    """Sequences that count up from a random start, with errors."""

    def __init__(self, size, seed):
        generator = torch.Generator().manual_seed(seed)
        starts = torch.randint(0, 32, (size, 1), generator=generator)
        self.tokens = (starts + torch.arange(16)) % 32
        wrong = torch.rand(self.tokens.shape, generator=generator) < 0.25
        self.tokens[wrong] = torch.randint(0, 32, (int(wrong.sum()),), generator=generator)

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": self.tokens[index]}


set_seed(1)
config = GPT2Config(
    vocab_size=32, n_positions=16, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
)
model = GPT2LMHeadModel(config)
arguments = TrainingArguments(
    output_dir="out",
    num_train_epochs=4,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=64,
    learning_rate=3e-3,
    weight_decay=0.01,
    lr_scheduler_type="cosine",
    warmup_steps=16,
    logging_steps=1,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    seed=1,
)
trainer = Trainer(model=model, args=arguments, train_dataset=Cycles(800, 0), eval_dataset=Cycles(128, 1))
trainer.train()
log = trainer.state.log_history
json.dump(
    {
        "loss": [entry["loss"] for entry in log if "loss" in entry],
        "lr": [entry["learning_rate"] for entry in log if "learning_rate" in entry],
        "grad_norm": [float(entry["grad_norm"]) for entry in log if "grad_norm" in entry],
        "val_loss": [entry["eval_loss"] for entry in log if "eval_loss" in entry],
    },
    open("truth.json", "w"),
)
