import torch
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler
from torch import nn

torch.manual_seed(17)

features, progression = load_diabetes(return_X_y=True)
gen = torch.Generator().manual_seed(17)
perm = torch.randperm(len(features), generator=gen).numpy()
features, progression = features[perm], progression[perm].reshape(-1, 1)
x_scaler = StandardScaler().fit(features[:330])
y_scaler = StandardScaler().fit(progression[:330])
X = torch.tensor(x_scaler.transform(features), dtype=torch.float32)
Y = torch.tensor(y_scaler.transform(progression), dtype=torch.float32)
Xtr, Ytr, Xte, Yte = X[:330], Y[:330], X[330:], Y[330:]

model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
loss_function = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-3)

history = {"train": [], "test": []}
for epoch in range(30):
    model.train()
    order = torch.randperm(330)
    batch_losses = []
    for start in range(0, 330, 32):
        rows = order[start:start + 32]
        optimizer.zero_grad()
        prediction = model(Xtr[rows])
        loss = loss_function(prediction, Ytr[rows])
        loss.backward()
        optimizer.step()
        batch_losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        test_loss = loss_function(model(Xte), Yte).item()
    history["train"].append(sum(batch_losses) / len(batch_losses))
    history["test"].append(test_loss)
    print(f"Epoch {epoch:3d}: train MSE {history['train'][-1]:.4f}, test MSE {test_loss:.4f}")

r2 = 1 - test_loss / Yte.var(unbiased=False).item()
print(f"final R2: {r2:.4f}")
