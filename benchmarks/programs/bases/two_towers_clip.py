import torch
import torch.nn as nn

torch.manual_seed(46)
# "images" and "captions" of the same hidden scene
scene_dim, n = 6, 2000
to_image = torch.randn(scene_dim, 50)
to_words = torch.randn(scene_dim, 60)


def pairs(n):
    s = torch.randn(n, scene_dim)
    image = torch.tanh(s @ to_image) + 0.3 * torch.randn(n, 50)
    caption = (s @ to_words + 0.8 * torch.randn(n, 60)).topk(8, 1).indices
    return image, caption


class ImageTower(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(50, 64), nn.ReLU(), nn.Linear(64, 24))


class TextTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(60, 48)
        self.proj = nn.Sequential(nn.ReLU(), nn.Linear(48, 24))

    def forward(self, tokens):
        return self.proj(self.words(tokens).mean(1))


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = ImageTower(), TextTower()
        self.logit_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, img, cap):
        u = nn.functional.normalize(self.image(img), dim=-1)
        v = nn.functional.normalize(self.text(cap), dim=-1)
        return self.logit_scale.exp() * u @ v.T


def clip_loss(logits):
    truth = torch.arange(len(logits))
    return (nn.functional.cross_entropy(logits, truth) + nn.functional.cross_entropy(logits.T, truth)) / 2


clip = Clip()
optimizer = torch.optim.AdamW(clip.parameters(), lr=3e-3, weight_decay=0.01)
img, cap = pairs(n)
vimg, vcap = pairs(200)
for epoch in range(12):
    clip.train()
    losses = []
    for rows in torch.randperm(n).split(100):
        loss = clip_loss(clip(img[rows], cap[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    clip.eval()
    with torch.no_grad():
        logits = clip(vimg, vcap)
        val_loss = clip_loss(logits).item()
        top5 = (logits.topk(5, 1).indices == torch.arange(200)[:, None]).any(1).float().mean().item()
    print(f"epoch {epoch:2d} loss {sum(losses) / len(losses):.3f} val_loss {val_loss:.3f} recall@5 {top5:.3f}")
print(f"final recall@5: {top5:.3f}")
