import torch
from sklearn.datasets import make_blobs

torch.manual_seed(4)
X, y = make_blobs(n_samples=600, centers=[(0, 0), (3, 0), (0, 3), (3, 3), (1.5, 6)], cluster_std=0.75, random_state=4)
X, y = torch.tensor(X).float(), torch.tensor(y)
X = (X - X.mean(0)) / X.std(0)
train, test = slice(0, 450), slice(450, 600)

model = torch.nn.Sequential(torch.nn.Linear(2, 20), torch.nn.Tanh(), torch.nn.Linear(20, 5))
hinge = torch.nn.MultiMarginLoss()
solver = torch.optim.LBFGS(model.parameters(), lr=0.8, max_iter=8, history_size=20)


def closure():
    solver.zero_grad()
    value = hinge(model(X[train]), y[train]) + 1e-4 * sum((p ** 2).sum() for p in model.parameters())
    value.backward()
    return value


for outer in range(15):
    value = solver.step(closure)
    with torch.no_grad():
        score = (model(X[test]).argmax(1) == y[test]).float().mean().item()
    print("outer %2d  objective %.5f  held-out %.3f" % (outer, value.item(), score))
print("final held-out accuracy: %.3f" % score)
