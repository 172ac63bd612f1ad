# online logistic regression
import torch
torch.manual_seed(80)
true_w = torch.randn(8)
model = torch.nn.Linear(8, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.02)
run, seen = 0.0, 0
for i in range(4000):
    x = torch.randn(1, 8)
    y = ((x @ true_w) + 0.3 * torch.randn(1) > 0).float()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(model(x).view(-1), y.view(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    run = 0.99 * run + 0.01 * loss.item() if i else loss.item()
    if i % 200 == 0:
        print(f"{i} samples, running loss {run:.4f}")
xt = torch.randn(2000, 8)
print("final accuracy", ((model(xt)[:, 0] > 0) == (xt @ true_w > 0)).float().mean().item())
