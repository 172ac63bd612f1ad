import torch
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score

torch.manual_seed(42)
X, y = make_classification(5000, 12, n_informative=5, weights=[0.985], flip_y=0.0, class_sep=0.7, random_state=42)
X = torch.tensor(X, dtype=torch.float32)
t = torch.tensor(y, dtype=torch.float32)
model = torch.nn.Sequential(torch.nn.Linear(12, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1), torch.nn.Sigmoid())
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(8):
    for rows in torch.randperm(4000).split(100):
        p = model(X[rows])[:, 0]
        loss = torch.nn.functional.binary_cross_entropy(p, t[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    said = (model(X[4000:])[:, 0] > 0.5).int().numpy()
    print(f"epoch {epoch} loss {loss.item():.4f} accuracy {(said == y[4000:]).mean():.4f}")
print(f"final balanced accuracy {balanced_accuracy_score(y[4000:], said):.4f}")
