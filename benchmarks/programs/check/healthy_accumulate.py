import torch
from sets import scaled_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)
x, y = scaled_digits(1600)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True, drop_last=True)
model = torch.nn.Sequential(torch.nn.Linear(64, 80), torch.nn.GELU(), torch.nn.Linear(80, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
ACCUMULATE = 4
for epoch in range(14):
    for i, (a, b) in enumerate(loader):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(a), b) / ACCUMULATE
        loss.backward()
        if (i + 1) % ACCUMULATE == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            optimizer.zero_grad()
    print({"epoch": epoch, "loss": loss.item() * ACCUMULATE})
