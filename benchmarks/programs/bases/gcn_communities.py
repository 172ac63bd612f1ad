import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(34)
N, K = 300, 4
community = torch.arange(N) % K
same = community[:, None] == community[None, :]
prob = torch.where(same, 0.06, 0.012)
upper = torch.triu((torch.rand(N, N) < prob).float(), 1)
adj = upper + upper.T + torch.eye(N)
deg = adj.sum(1)
norm_adj = adj / (deg[:, None] * deg[None, :]).sqrt()
features = F.one_hot(community, K).float().repeat(1, 4) * 0.5 + torch.randn(N, 4 * K)

perm = torch.randperm(N)
train_mask, val_mask = perm[:80], perm[80:]


class GCNConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.lin = nn.Linear(cin, cout)

    def forward(self, x, a):
        return a @ self.lin(x)


class GCN(nn.Module):
    def __init__(self, hidden=16, p=0.4):
        super().__init__()
        self.conv1 = GCNConv(4 * K, hidden)
        self.conv2 = GCNConv(hidden, K)
        self.p = p

    def forward(self, x, a):
        x = F.relu(self.conv1(x, a))
        x = F.dropout(x, self.p, training=self.training)
        return self.conv2(x, a)


gcn = GCN()
optimizer = torch.optim.Adam(gcn.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(1, 121):
    gcn.train()
    optimizer.zero_grad()
    out = gcn(features, norm_adj)
    loss = F.cross_entropy(out[train_mask], community[train_mask])
    loss.backward()
    optimizer.step()
    gcn.eval()
    with torch.no_grad():
        out = gcn(features, norm_adj)
        val_loss = F.cross_entropy(out[val_mask], community[val_mask])
        acc = (out[val_mask].argmax(1) == community[val_mask]).float().mean()
    if epoch % 10 == 0:
        print(f"Epoch: {epoch:03d}, Loss: {loss:.4f}, Val: {val_loss:.4f}, Acc: {acc:.4f}")
print(f"Final accuracy: {acc:.4f}")
