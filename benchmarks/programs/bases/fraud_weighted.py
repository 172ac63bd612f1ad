import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset

N_EPOCHS = 10
torch.manual_seed(8)


class Transactions(Dataset):
    def __init__(self, features, labels):
        self.features = features.astype(np.float32)
        self.labels = labels.astype(np.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.features[i], self.labels[i]


X, y = make_classification(n_samples=4000, n_features=16, n_informative=8, weights=[0.96], class_sep=1.6,
                           flip_y=0.002, random_state=8)
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.3, stratify=y, random_state=8)
mean, std = X_tr.mean(0), X_tr.std(0)
X_tr, X_va = (X_tr - mean) / std, (X_va - mean) / std
print("fraud share in training: %.3f" % y_tr.mean())

train = DataLoader(Transactions(X_tr, y_tr), batch_size=64, shuffle=True)
valid = DataLoader(Transactions(X_va, y_va), batch_size=512)
pos_weight = torch.tensor((y_tr == 0).sum() / (y_tr == 1).sum() / 4, dtype=torch.float32)
model = torch.nn.Sequential(torch.nn.Linear(16, 48), torch.nn.LeakyReLU(), torch.nn.Linear(48, 24),
                            torch.nn.LeakyReLU(), torch.nn.Linear(24, 1))
loss_fn = torch.nn.BCEWithLogitsLoss(pos_weight=pos_weight)
optimizer = torch.optim.Adam(model.parameters(), lr=0.002)

for epoch in range(N_EPOCHS):
    model.train()
    train_losses = []
    for features, labels in train:
        optimizer.zero_grad()
        logits = model(features).view(-1)
        loss = loss_fn(logits, labels)
        loss.backward()
        optimizer.step()
        train_losses.append(loss.item())
    model.eval()
    scores, truth = [], []
    with torch.no_grad():
        for features, labels in valid:
            scores.append(torch.sigmoid(model(features).view(-1)).numpy())
            truth.append(labels.numpy())
    scores, truth = np.concatenate(scores), np.concatenate(truth)
    f1 = f1_score(truth, scores > 0.5)
    auc = roc_auc_score(truth, scores)
    print(f"Epoch: {epoch} Loss: {np.mean(train_losses):.4f} AUC: {auc:.4f} F1: {f1:.4f}")

print(f"Final F1: {f1:.4f}")
