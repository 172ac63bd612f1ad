"""MLflow with a store of plain files: parameters, metrics with steps, several at once."""

import json
import os

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"

import mlflow
import torch
from torch import nn

torch.manual_seed(6)
mlflow.set_tracking_uri("file:" + os.path.abspath("mlruns"))
mlflow.set_experiment("small")
x = torch.randn(900, 6)
y = x @ torch.randn(6, 2) + 0.1 * torch.randn(900, 2)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
truth = {"loss": [], "lr": [], "val_loss": []}
with mlflow.start_run():
    mlflow.log_params({"lr": 0.01, "batch_size": 60})
    for epoch in range(12):
        model.train()
        for chosen in torch.randperm(720).split(60):
            loss = nn.functional.mse_loss(model(x[chosen]), y[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            truth["loss"].append(loss.item())
            truth["lr"].append(0.01)
        mlflow.log_metric("loss", loss.item(), step=len(truth["loss"]))
        model.eval()
        with torch.no_grad():
            error = model(x[720:]) - y[720:]
        val = {"val_loss": error.square().mean().item(), "val_mae": error.abs().mean().item()}
        truth["val_loss"].append(val["val_loss"])
        mlflow.log_metrics(val, step=len(truth["loss"]))
json.dump(truth, open("truth.json", "w"))
