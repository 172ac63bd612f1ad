# fitting three constants of a decay curve
import torch
torch.manual_seed(25)
torch.set_default_dtype(torch.float64)
t = torch.linspace(0, 5, 120)
obs = 3.0 * torch.exp(-0.8 * t) + 0.5 + 0.02 * torch.randn(120)
params = torch.nn.Parameter(torch.tensor([1.0, 0.1, 0.0]))
opt = torch.optim.LBFGS([params], lr=0.5, max_iter=4, line_search_fn="strong_wolfe")
for it in range(30):
    def closure():
        opt.zero_grad()
        a, k, c = params
        loss = ((a * torch.exp(-k * t) + c - obs) ** 2).mean()
        loss.backward()
        return loss
    loss = opt.step(closure)
    print(f"iteration {it} loss {loss.item():.6f}")
print("final error of k", abs(params[1].item() - 0.8))
