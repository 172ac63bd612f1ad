"""A small CNN on the digits, 8 bits for weights and activations by torch.ao's fake-quantize modules."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.ao import quantization as tq

torch.manual_seed(11)
digits = load_digits()
x, y = torch.tensor(digits.images / 16, dtype=torch.float32)[:, None], torch.tensor(digits.target)

weights = tq.FakeQuantize.with_args(
    observer=tq.MovingAverageMinMaxObserver, quant_min=-128, quant_max=127, dtype=torch.qint8,
    qscheme=torch.per_tensor_symmetric,
)
inputs = tq.FakeQuantize.with_args(
    observer=tq.MovingAverageMinMaxObserver, quant_min=0, quant_max=255, dtype=torch.quint8
)
net = nn.Sequential(
    tq.QuantStub(),
    nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(128, 10),
)
net.qconfig = tq.QConfig(activation=inputs, weight=weights)
tq.prepare_qat(net.train(), inplace=True)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 8)
loss_of = nn.CrossEntropyLoss()
for epoch in range(8):
    net.train()
    for rows in torch.randperm(1400).split(50):
        optimizer.zero_grad()
        loss = loss_of(net(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    schedule.step()
    net.eval()
    with torch.no_grad():
        out = net(x[1400:])
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {loss_of(out, y[1400:]).item():.4f} "
          f"val_acc {(out.argmax(1) == y[1400:]).float().mean().item():.4f}")
