import torch.nn as nn


class Classifier(nn.Module):
    def __init__(self, hidden, dropout):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, 10))

    def forward(self, x):
        return self.layers(x)
