import random

import torch
from torch import nn
from torch.utils.data import DataLoader

random.seed(64)
torch.manual_seed(64)
good = "great lovely superb warm crisp honest charming bold".split()
bad = "dull cheap noisy stale bland clumsy broken cold".split()
filler = "the a this movie phone food room was is felt very quite it and but with staff screen plot".split()


def review():
    label = random.randint(0, 1)
    strong = good if label else bad
    weak = bad if label else good
    toks = random.choices(filler, k=random.randint(8, 20)) + random.choices(strong, k=3) + random.choices(weak, k=1)
    random.shuffle(toks)
    return label, " ".join(toks)


reviews = [review() for _ in range(1600)]
vocab = {w: i for i, w in enumerate(filler + good + bad)}


def collate_batch(batch):
    labels, flat, offsets = [], [], [0]
    for label, text in batch:
        tokens = [vocab[t] for t in text.split()]
        labels.append(label)
        flat.extend(tokens)
        offsets.append(offsets[-1] + len(tokens))
    return torch.tensor(labels), torch.tensor(flat), torch.tensor(offsets[:-1])


class TextClassificationModel(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_class):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim)
        self.fc = nn.Linear(embed_dim, num_class)

    def forward(self, text, offsets):
        return self.fc(self.embedding(text, offsets))


def train(dataloader):
    model.train()
    total_acc, total_count = 0, 0
    log_interval = 20
    for i, (label, text, offsets) in enumerate(dataloader):
        optimizer.zero_grad()
        predicted = model(text, offsets)
        loss = criterion(predicted, label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        total_acc += (predicted.argmax(1) == label).sum().item()
        total_count += label.size(0)
        if i % log_interval == 0 and i > 0:
            print("| epoch {:3d} | {:5d}/{:5d} batches | loss {:8.3f} | accuracy {:8.3f}".format(
                epoch, i, len(dataloader), loss.item(), total_acc / total_count))
            total_acc, total_count = 0, 0


def evaluate(dataloader):
    model.eval()
    total_acc, total_count = 0, 0
    with torch.no_grad():
        for label, text, offsets in dataloader:
            total_acc += (model(text, offsets).argmax(1) == label).sum().item()
            total_count += label.size(0)
    return total_acc / total_count


model = TextClassificationModel(len(vocab), 16, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4, gamma=0.5)
train_dl = DataLoader(reviews[:1200], batch_size=16, shuffle=True, collate_fn=collate_batch)
valid_dl = DataLoader(reviews[1200:], batch_size=16, collate_fn=collate_batch)
for epoch in range(1, 9):
    train(train_dl)
    accu_val = evaluate(valid_dl)
    scheduler.step()
    print("| end of epoch {:3d} | valid accuracy {:8.3f}".format(epoch, accu_val))
print("| final accuracy {:8.3f}".format(accu_val))
