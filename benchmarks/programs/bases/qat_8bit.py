"""Quantization-aware training with 8-bit weights and activations, fake quantization as an autograd function."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(81)


class FakeQuant(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bits):
        scale = x.abs().max().clamp(min=1e-8) / (2 ** (bits - 1) - 1)
        return torch.round(x / scale) * scale

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class QLinear(nn.Linear):
    bits = 8

    def forward(self, x):
        return nn.functional.linear(FakeQuant.apply(x, self.bits), FakeQuant.apply(self.weight, self.bits), self.bias)


def load():
    d = load_digits()
    x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)
    return TensorDataset(x[:1347], y[:1347]), TensorDataset(x[1347:], y[1347:])


def main():
    train, test = load()
    net = nn.Sequential(QLinear(64, 48), nn.ReLU(), QLinear(48, 48), nn.ReLU(), QLinear(48, 10))
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(10):
        net.train()
        total = 0.0
        for x, y in DataLoader(train, batch_size=32, shuffle=True):
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        net.eval()
        with torch.no_grad():
            x, y = test.tensors
            out = net(x)
            acc = (out.argmax(1) == y).float().mean().item()
            vloss = nn.functional.cross_entropy(out, y).item()
        print(f"epoch {epoch}: train {total / len(train):.4f} test {vloss:.4f} quantized accuracy {acc:.4f}")
    print(f"final quantized accuracy: {acc:.4f}")


if __name__ == "__main__":
    main()
