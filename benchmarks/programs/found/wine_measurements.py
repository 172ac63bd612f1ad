import torch
from torch import nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

torch.manual_seed(12)
data = load_wine()
a, b, c, d = train_test_split(data.data, data.target, random_state=3)
a, b = torch.tensor(a, dtype=torch.float), torch.tensor(b, dtype=torch.float)
c, d = torch.tensor(c), torch.tensor(d)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(13, 64)
        self.fc2 = nn.Linear(64, 3)

    def forward(self, x):
        return self.fc2(torch.sigmoid(self.fc1(x)))


model = Classifier()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(60):
    optimizer.zero_grad()
    loss = criterion(model(a), c)
    loss.backward()
    optimizer.step()
    if epoch % 5 == 4:
        print(f"epoch: {epoch + 1}, train loss: {loss.item():.4f}, test loss: {criterion(model(b), d).item():.4f}")
print("final accuracy:", (model(b).argmax(1) == d).float().mean().item())
