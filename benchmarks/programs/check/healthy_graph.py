# one graph, all nodes in every step
import torch
from torch import nn

torch.manual_seed(40)
n, groups = 240, 4
y = torch.arange(n) % groups
same = y[:, None] == y[None, :]
edges = (torch.rand(n, n) < torch.where(same, 0.10, 0.01)).float()
edges = ((edges + edges.T + torch.eye(n)) > 0).float()
adjacency = edges / edges.sum(1, keepdim=True)
x = torch.randn(n, 16) + 0.5 * torch.randn(groups, 16)[y]
known = torch.rand(n) < 0.4


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.drop = nn.Linear(16, 24), nn.Linear(24, groups), nn.Dropout(0.3)

    def forward(self, x, adjacency):
        return adjacency @ self.second(self.drop(torch.relu(adjacency @ self.first(x))))


model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(300):
    model.train()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x, adjacency)[known], y[known])
    loss.backward()
    optimizer.step()
    if epoch % 50 == 0:
        model.eval()
        with torch.no_grad():
            right = (model(x, adjacency).argmax(1) == y)[~known].float().mean()
        print(epoch, loss.item(), right.item())
