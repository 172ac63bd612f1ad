import numpy as np, torch
from torch import nn
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split

torch.manual_seed(50)
X, y = make_classification(4000, 15, n_informative=6, weights=[0.975], class_sep=0.5, flip_y=0, random_state=50)
Xtr, Xte, ytr, yte = train_test_split(X.astype("float32"), y, stratify=y, random_state=0)
Xtr, Xte, ytr = torch.tensor(Xtr), torch.tensor(Xte), torch.tensor(ytr)
model = nn.Sequential(nn.Linear(15, 20), nn.ReLU(), nn.Dropout(0.2), nn.Linear(20, 2))
opt = torch.optim.Adam(model.parameters(), lr=5e-4)
for epoch in range(15):
    model.train()
    for i in range(0, 3000, 60):
        loss = nn.functional.cross_entropy(model(Xtr[i:i + 60]), ytr[i:i + 60])
        opt.zero_grad(); loss.backward(); opt.step()
    model.eval()
    with torch.no_grad():
        pred = model(Xte).argmax(1).numpy()
    print(f"epoch {epoch}: loss {loss.item():.4f}, accuracy {(pred == yte).mean():.4f}")
print("final recall", recall_score(yte, pred))
