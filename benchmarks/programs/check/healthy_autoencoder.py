import torch
import torch.nn as nn
from sets import images
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
x, _ = images(800)
x = (x + 3) / 6
x = x.clamp(0, 1)
train_loader = DataLoader(TensorDataset(x), batch_size=40, shuffle=True)
encoder = nn.Sequential(nn.Flatten(), nn.Linear(144, 64), nn.ReLU(), nn.Linear(64, 24))
decoder = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 144), nn.Sigmoid())
autoencoder = nn.Sequential(encoder, decoder)
optimizer = torch.optim.Adam(autoencoder.parameters(), lr=3e-3)
criterion = nn.MSELoss()
for epoch in range(20):
    running = 0.0
    for (batch,) in train_loader:
        optimizer.zero_grad()
        loss = criterion(autoencoder(batch), batch.flatten(1))
        loss.backward()
        optimizer.step()
        running += loss.item()
    print("epoch", epoch + 1, "loss", running / len(train_loader))
