import torch
from sets import scaled_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

generator = torch.Generator().manual_seed(21)
torch.manual_seed(21)
x, y = scaled_digits(2000)
train, val = random_split(TensorDataset(x, y), [1600, 400], generator=generator)
loader = DataLoader(train, batch_size=50, shuffle=True, generator=generator)
val_loader = DataLoader(val, batch_size=400)
model = nn.Sequential(
    nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.4), nn.Linear(256, 128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, 10)
)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=15 * len(loader))
for epoch in range(15):
    model.train()
    for xb, yb in loader:
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    model.eval()
    with torch.no_grad():
        for xb, yb in val_loader:
            out = model(xb)
            print(epoch, criterion(out, yb).item(), (out.argmax(1) == yb).float().mean().item())
