import torch

torch.manual_seed(3)
X = torch.tensor([[0., 0.], [0., 1.], [1., 0.], [1., 1.]]).repeat(50, 1) + 0.05 * torch.randn(200, 2)
Y = torch.tensor([0., 1., 1., 0.]).repeat(50)
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-4)
for epoch in range(300):
    z = net(X)[:, 0]
    loss = torch.nn.functional.binary_cross_entropy_with_logits(z, Y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 20 == 19:
        print(epoch + 1, "loss", round(loss.item(), 5), "acc", ((z > 0).float() == Y).float().mean().item())
print("final acc", ((net(X)[:, 0] > 0).float() == Y).float().mean().item())
