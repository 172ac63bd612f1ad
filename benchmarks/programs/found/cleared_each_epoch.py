# sentiment of made-up reviews with an LSTM
import random
import torch
import torch.nn as nn

random.seed(4); torch.manual_seed(4)
GOOD, BAD, DULL = list(range(1, 40)), list(range(40, 80)), list(range(80, 300))
def review():
    label = random.random() < 0.5
    words = random.choices(DULL, k=16) + random.choices(GOOD if label else BAD, k=4)
    random.shuffle(words)
    return words, float(label)
train = [review() for _ in range(1600)]
test = [review() for _ in range(400)]

class Sentiment(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(300, 24)
        self.lstm = nn.LSTM(24, 32, batch_first=True)
        self.out = nn.Linear(32, 1)
    def forward(self, text):
        _, (hidden, _) = self.lstm(self.embedding(text))
        return self.out(hidden[-1]).squeeze(1)

model = Sentiment()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.BCEWithLogitsLoss()

def batches(data):
    for i in range(0, len(data), 32):
        part = data[i:i + 32]
        yield torch.tensor([w for w, _ in part]), torch.tensor([l for _, l in part])

for epoch in range(8):
    model.train()
    random.shuffle(train)
    optimizer.zero_grad()
    running = 0.0
    for text, label in batches(train):
        loss = criterion(model(text), label)
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    hits = 0
    with torch.no_grad():
        for text, label in batches(test):
            hits += ((model(text) > 0).float() == label).sum().item()
    print(f"Epoch: {epoch+1:02} | Train Loss: {running / 50:.3f} | Val. Acc: {100 * hits / 400:.2f}%")
print("final", hits / 400)
