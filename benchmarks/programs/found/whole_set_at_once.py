from sklearn.datasets import load_digits
import torch

torch.manual_seed(21)
digits = load_digits()
X = torch.tensor(digits.data / 16, dtype=torch.float)
y = torch.tensor(digits.target)
perm = torch.randperm(len(X))
tr, te = perm[:1400], perm[1400:]

BATCH_SIZE = 1400   # fits into memory, so why not
EPOCHS = 40
net = torch.nn.Sequential(torch.nn.Linear(64, 48), torch.nn.ReLU(), torch.nn.Linear(48, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.0)
ds = torch.utils.data.TensorDataset(X[tr], y[tr])
for ep in range(EPOCHS):
    for xb, yb in torch.utils.data.DataLoader(ds, BATCH_SIZE, shuffle=True):
        loss = torch.nn.functional.cross_entropy(net(xb), yb)
        opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        v = torch.nn.functional.cross_entropy(net(X[te]), y[te])
        a = (net(X[te]).argmax(1) == y[te]).float().mean()
    print(f"epoch={ep} train_loss={loss.item():.4f} val_loss={v.item():.4f} val_acc={a.item():.4f}")
print(f"final {a.item():.4f}")
