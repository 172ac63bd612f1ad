# damped oscillator: the net must obey the differential equation and the start values
import torch

torch.manual_seed(25)
omega, damping = 3.0, 0.3
t_test = torch.linspace(0, 3, 200)[:, None]
w = (omega ** 2 - damping ** 2) ** 0.5
truth = torch.exp(-damping * t_test) * (torch.cos(w * t_test) + damping / w * torch.sin(w * t_test))

u = torch.nn.Sequential(torch.nn.Linear(1, 32), torch.nn.Tanh(), torch.nn.Linear(32, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
opt = torch.optim.Adam(u.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.MultiStepLR(opt, [900, 1200], gamma=0.3)
for it in range(1400):
    t = (3 * torch.rand(64, 1)).requires_grad_()
    y = u(t)
    dy, = torch.autograd.grad(y.sum(), t, create_graph=True)
    ddy, = torch.autograd.grad(dy.sum(), t, create_graph=True)
    physics = (ddy + 2 * damping * dy + omega ** 2 * y).pow(2).mean()
    t0 = torch.zeros(1, 1, requires_grad=True)
    y0 = u(t0)
    v0, = torch.autograd.grad(y0.sum(), t0, create_graph=True)
    start = (y0 - 1).pow(2).mean() + 0.1 * v0.pow(2).mean()
    loss = 0.05 * physics + 10 * start
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if it % 100 == 99:
        with torch.no_grad():
            err = ((u(t_test) - truth).pow(2).mean() / truth.pow(2).mean()).sqrt().item()
        print(f"{it + 1:5d}  loss {loss.item():.3e}  physics {physics.item():.3e}  relative error {err:.4f}")
print(f"final relative error {err:.4f}")
