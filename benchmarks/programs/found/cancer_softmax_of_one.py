import torch
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

torch.manual_seed(1)
x, y = load_breast_cancer(return_X_y=True)
x, y = torch.tensor(scale(x), dtype=torch.float32), torch.tensor(y, dtype=torch.float32).reshape(-1, 1)
model = torch.nn.Sequential(torch.nn.Linear(30, 20), torch.nn.ReLU(), torch.nn.Linear(20, 1), torch.nn.Softmax(dim=1))
opt = torch.optim.Adam(model.parameters(), lr=0.001)
loss_fn = torch.nn.BCELoss()
for epoch in range(20):
    for i in range(0, 450, 32):
        loss = loss_fn(model(x[i:i + 32]), y[i:i + 32])
        opt.zero_grad()
        loss.backward()
        opt.step()
    acc = ((model(x[450:]) > 0.5).float() == y[450:]).float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.4f}")
print("final acc", round(acc.item(), 4))
