"""A map-style data set, two loader workers, batches as dictionaries."""

import json
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

parent = os.getpid()


class Squares(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        g = torch.Generator().manual_seed(index)
        x = torch.randn(4, generator=g)
        return {"x": x, "y": (x**2).sum(0, keepdim=True), "pid": os.getpid()}


if __name__ == "__main__":
    torch.manual_seed(17)
    loader = DataLoader(Squares(), batch_size=16, shuffle=True, num_workers=2)
    model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses, workers = [], set()
    for _epoch in range(2):
        for batch in loader:
            optimizer.zero_grad()
            loss = nn.functional.smooth_l1_loss(model(batch["x"]), batch["y"])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            workers |= set(batch["pid"].tolist())
    assert parent not in workers
    torch.save(model.state_dict(), "weights.pt")
    with open("truth.json", "w") as file:
        json.dump({"loss": losses, "lr": [0.01] * len(losses)}, file)
