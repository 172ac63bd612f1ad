import random

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

random.seed(3)
VOCAB, LENGTH = 60, 16


class Reviews(torch.utils.data.Dataset):
    """Token 1 to 8 speak for, 9 to 16 against; the majority decides."""

    def __init__(self, n):
        self.rows = []
        for _ in range(n):
            label = random.randint(0, 1)
            strong, weak = (range(1, 9), range(9, 17)) if label else (range(9, 17), range(1, 9))
            ids = random.choices(strong, k=3) + random.choices(weak, k=1) + random.choices(range(17, VOCAB), k=LENGTH - 4)
            random.shuffle(ids)
            self.rows.append({"input_ids": torch.tensor(ids), "labels": torch.tensor(label)})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def accuracy(pred):
    return {"accuracy": float((np.argmax(pred.predictions, -1) == pred.label_ids).mean())}


config = BertConfig(vocab_size=VOCAB, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
                    max_position_embeddings=LENGTH, num_labels=2)
args = TrainingArguments("out", num_train_epochs=6, per_device_train_batch_size=32, learning_rate=1e-3, warmup_steps=20,
                         eval_strategy="epoch", logging_steps=10, save_strategy="no", report_to=[], seed=3,
                         disable_tqdm=True, use_cpu=True)
trainer = Trainer(BertForSequenceClassification(config), args, train_dataset=Reviews(1200), eval_dataset=Reviews(300),
                  compute_metrics=accuracy)
trainer.train()
print("final accuracy:", trainer.evaluate()["eval_accuracy"])
