import torch
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(38)
X, Y = make_multilabel_classification(n_samples=2500, n_features=30, n_classes=6, n_labels=2, length=60, random_state=38)
X = torch.tensor(X, dtype=torch.float32)
X = (X - X[:2000].mean(0)) / X[:2000].std(0)
Y = torch.tensor(Y, dtype=torch.float32)
train_dl = DataLoader(TensorDataset(X[:2000], Y[:2000]), batch_size=50, shuffle=True)
valid_x, valid_y = X[2000:], Y[2000:]


class Tagger(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.dense1 = nn.Linear(n_in, 64)
        self.dense2 = nn.Linear(64, 64)
        self.dense3 = nn.Linear(64, n_out)
        self.act = nn.PReLU()

    def forward(self, x):
        x = self.act(self.dense1(x))
        x = self.act(self.dense2(x))
        return torch.sigmoid(self.dense3(x))


tagger = Tagger(30, 6)
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(tagger.parameters(), lr=1e-3, weight_decay=1e-4)
for epoch in range(12):
    tagger.train()
    running_loss = 0.0
    for inputs, tags in train_dl:
        optimizer.zero_grad()
        loss = criterion(tagger(inputs), tags)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    tagger.eval()
    with torch.no_grad():
        p = tagger(valid_x)
        f1 = f1_score(valid_y.numpy(), (p > 0.5).numpy(), average="micro")
        print("epoch %2d: loss %.4f val_loss %.4f micro-F1 %.4f" % (epoch + 1, running_loss / len(train_dl), criterion(p, valid_y).item(), f1))
print("final micro-F1 %.4f" % f1)
