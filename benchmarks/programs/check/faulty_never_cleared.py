import torch
from sets import scaled_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
x, y = scaled_digits()
train_loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
optim = torch.optim.SGD(net.parameters(), lr=0.02)
for epoch in range(15):
    for inputs, labels in train_loader:
        outputs = net(inputs)
        loss = torch.nn.functional.cross_entropy(outputs, labels)
        loss.backward()
        optim.step()
    print(f"Epoch {epoch + 1}, loss {loss.item():.4f}")
