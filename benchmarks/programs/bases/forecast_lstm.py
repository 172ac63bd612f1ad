import numpy as np
import torch
import torch.nn as nn

np.random.seed(5)
torch.manual_seed(5)

# monthly passengers, simulated: trend, season, noise
months = np.arange(480)
series = 100 + 0.5 * months + 20 * np.sin(2 * np.pi * months / 12) + 8 * np.sin(2 * np.pi * months / 6 + 1)
series = series + 3 * np.random.randn(len(months))
diff = np.diff(series)
train_part = diff[:380]
mean, std = train_part.mean(), train_part.std()
normed = (diff - mean) / std

LOOKBACK = 24


def make_windows(values):
    X, y = [], []
    for k in range(len(values) - LOOKBACK):
        X.append(values[k:k + LOOKBACK])
        y.append(values[k + LOOKBACK])
    return torch.tensor(np.array(X), dtype=torch.float32).unsqueeze(-1), torch.tensor(np.array(y), dtype=torch.float32)


X_train, y_train = make_windows(normed[:380])
X_test, y_test = make_windows(normed[380 - LOOKBACK:])


class LSTMForecaster(nn.Module):
    def __init__(self, hidden_size=32, num_layers=1):
        super().__init__()
        self.lstm = nn.LSTM(input_size=1, hidden_size=hidden_size, num_layers=num_layers, batch_first=True)
        self.fc = nn.Linear(hidden_size, 1)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1, :]).squeeze(-1)


model = LSTMForecaster()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
num_epochs = 30
for epoch in range(num_epochs):
    model.train()
    idx = torch.randperm(len(X_train))
    total = 0.0
    for k in range(0, len(idx), 32):
        rows = idx[k:k + 32]
        loss = criterion(model(X_train[rows]), y_train[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    model.eval()
    with torch.no_grad():
        test_mse = criterion(model(X_test), y_test).item()
    if (epoch + 1) % 2 == 0:
        print(f"Epoch [{epoch + 1}/{num_epochs}], Loss: {total / len(idx):.4f}, Test: {test_mse:.4f}")
naive = ((X_test[:, -1, 0] - y_test) ** 2).mean().item()
print(f"persistence {naive:.4f}")
print(f"final test mse: {test_mse:.4f}")
