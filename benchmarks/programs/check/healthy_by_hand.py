# softmax regression without an optimizer
import torch
from sets import scaled_digits

torch.manual_seed(46)
x, y = scaled_digits(1200)
W = (0.01 * torch.randn(64, 10)).requires_grad_()
b = torch.zeros(10, requires_grad=True)
for step in range(400):
    rows = torch.randint(0, 1200, (60,))
    loss = torch.nn.functional.cross_entropy(x[rows] @ W + b, y[rows])
    loss.backward()
    with torch.no_grad():
        for p in (W, b):
            p -= 0.2 * p.grad
            p.grad = None
    if step % 50 == 0:
        print(step, loss.item())
