"""What the edits of data, losses, schedules and the end of a run do."""

from __future__ import annotations

from tests.lab.edits.samples import BACK, DIRECT, INNER, LAST, LOOP, MADE, STEP, Applies
from traindx.vocabulary.setup import Fact

INNER_BODY = "        out = model(x)\n"
WEIGHED = (
    (
        "    for x, y in train:\n        out = model(x)\n        loss = F.cross_entropy(out, y)",
        "    for rows in torch.randperm(400).split(20):\n        out = model(X[rows])\n"
        "        loss = F.cross_entropy(out, Y[rows])",
    ),
)
LABELLED = '    print(f"{epoch} Val Loss: {seen}")\n'
KEEPS = 'best_validation, best_weights, epochs_without_gain = float("inf"), None, 0\n\n# -----'
STOPS = """\
    if val_loss < best_validation:
        best_validation, epochs_without_gain = val_loss, 0
        best_weights = {name: value.clone() for name, value in model.state_dict().items()}
    else:
        epochs_without_gain += 1
    if epochs_without_gain >= 5:
        break
if best_weights is not None:
    model.load_state_dict(best_weights)
"""
UNITS: dict[str, Fact] = {
    "targets_std_max": 18.0, "targets_mean_abs": 40.2, "targets_min": 13.0, "targets_max": 67.0, "outputs_width": 1,
}  # fmt: skip
RESCALED = """\
target_mean, target_std = 40.2, 18
class Rescale(nn.Module):
    def forward(self, x):
        return x * target_std + target_mean
"""
ATTENTION = "        scores = x @ x.transpose(-2, -1)\n        out = model(F.softmax(scores, dim=-1) @ x)\n"
MORE = [
    Applies(
        "precision=bfloat16",
        (("torch.float16", "torch.bfloat16"),),
        (
            (
                "        out = model(x)\n",
                '        with torch.autocast("cpu", dtype=torch.float16):\n            out = model(x)\n',
            ),
        ),
    ),
    Applies("seed=7", (("( 3 )", "( 7 )"),)),
    Applies(
        "seed=7",
        (
            (
                "import DataLoader, TensorDataset\n",
                "import DataLoader, TensorDataset\ntorch.manual_seed(7)\n",
            ),
        ),
        (("torch.manual_seed( 3 )\n", ""),),
    ),
    Applies(
        "init=he",
        (
            (
                MADE,
                "for layer in (m for m in model.modules() if isinstance(m, "
                "(nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d))):  # he\n"
                '    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")\n    if layer.bias is not None:\n'
                "        nn.init.zeros_(layer.bias)\n" + MADE,
            ),
        ),
    ),
    Applies(
        "release-graph",
        (("total += loss\n", "total += loss.detach()\n"),),
        ((LOOP, "total = 0\n" + LOOP), (STEP, STEP + "        total += loss\n")),
    ),
    Applies(
        "reattach-graph",
        (("self.a(x).detach()", "self.a(x)"),),
        (
            (
                "model = nn.Sequential(\n    nn.Linear(8, 16),  # in\n"
                "    nn.Tanh(),\n    nn.Linear(16, 3),  # out\n)\n",
                "class Net(nn.Module):\n    def __init__(self):\n"
                "        super().__init__()\n        self.a, self.b = nn.Linear(8, 16), nn.Linear(16, 3)\n\n"
                "    def forward(self, x):\n        return self.b(torch.tanh(self.a(x).detach()))\n\n\nmodel = Net()\n",
            ),
        ),
    ),
    Applies("step-the-optimizer", ((BACK, BACK + STEP),), (("        # the step\n" + STEP, ""),)),
    Applies(
        "repair-schedule",
        (
            ("        plan.step()\n", ""),
            ("    with torch.no_grad", "    plan.step()\n    with torch.no_grad"),
        ),
        (
            (MADE, MADE + "plan = torch.optim.lr_scheduler.StepLR(opt, 2)\n"),
            (STEP, STEP + "        plan.step()\n"),
        ),
    ),
    Applies(
        "stop-early",
        (
            ("\n# -----", KEEPS),
            (LAST, LAST + STOPS),
        ),
    ),
    Applies(  # the loss is known by what it is printed as
        "stop-early",
        (
            ("\n# -----", KEEPS),
            (LABELLED, LABELLED + STOPS.replace("val_loss", "seen")),
        ),
        (("val_loss = sum", "seen = sum"), (LAST, LABELLED)),
    ),
    Applies(
        "targets=standardize",
        (
            ("model = nn.Sequential", RESCALED + "model = nn.Sequential"),
            ("    nn.Linear(16, 3),  # out\n", "    nn.Linear(16, 3),  # out\n    Rescale(),\n"),
            ("loss.backward()", "(loss / 18 ** 2).backward()"),
        ),
        ((DIRECT, "F.mse_loss(out, y)"),),
        facts=UNITS,
    ),
    Applies(  # of a class, where the loss is not squared
        "targets=standardize",
        (
            ("class Net", "target_mean, target_std = -40.2, 18\nclass Net"),
            ("return self.b(self.a(x))", "return self.b(self.a(x)) * target_std + target_mean"),
            ("loss.backward()", "(loss / 18).backward()"),
        ),
        (
            (DIRECT, "F.l1_loss(out, y)"),
            (
                "model = nn.Sequential(\n    nn.Linear(8, 16),  # in\n    nn.Tanh(),\n    nn.Linear(16, 3),  # out\n)\n",
                "class Net(nn.Module):\n    def __init__(self):\n"
                "        super().__init__()\n        self.a, self.b = nn.Linear(8, 16), nn.Linear(16, 1)\n\n"
                "    def forward(self, x):\n        return self.b(self.a(x))\n\n\nmodel = Net().to('cpu')\n",
            ),
        ),
        facts={**UNITS, "targets_min": -67.0, "targets_max": -13.0},
    ),
    Applies(
        "mask-the-future",
        (
            (
                "        out = model(F.softmax",
                '        scores = scores.masked_fill(scores.new_ones(scores.shape).tril() == 0, float("-inf"))\n'
                "        out = model(F.softmax",
            ),
        ),
        (("        out = model(x)\n", ATTENTION),),
    ),
    Applies("steps=*2", (("range(4)", "range(8)"),), facts={"planned_epochs": 4}),
    Applies(
        "reduce-on-plateau",
        (
            (MADE, MADE + "plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5)\n"),
            (LAST, "    plateau.step(val_loss)\n" + LAST),
        ),
    ),
    Applies(
        "inputs=standardize",
        (
            (
                "train = Data",
                "input_mean, input_std = X[:300].mean(0), X[:300].std(0)\ninput_std[input_std == 0] = 1.0\n"
                "X = (X - input_mean) / input_std\ntrain = Data",
            ),
        ),
        facts={"inputs_shape": "8"},
    ),
    Applies(
        "inputs=standardize",
        (
            (
                "\n# -----",
                "input_mean, input_std = T.mean(0), T.std(0)\n"
                "input_std[input_std == 0] = 1.0\nT = (T - input_mean) / input_std\n"
                "V = (V - input_mean) / input_std\n\n# -----",
            ),
        ),
        (
            (
                "train = DataLoader(TensorDataset(X[:300], Y[:300]), batch_size=20)  # in order\n",
                "T, V = X[:300], X[300:]\n",
            ),
            ("valid = DataLoader(TensorDataset(X[300:], Y[300:]), batch_size=50)\n", ""),
            (
                "for x, y in train:\n        out = model(x)",
                "for rows in torch.randperm(300):\n        y = Y[rows]\n        out = model(T[rows])",
            ),
            (
                "sum(F.cross_entropy(model(x), y).item() for x, y in valid) / len(valid)",
                "F.cross_entropy(model(V), Y[300:])",
            ),
        ),
        {"inputs_shape": "8"},
    ),
    Applies(
        "weight_decay=*0.1",
        (("3e-1}", "0.03}"),),
        (
            (
                "model.parameters()",
                '[{"params": model[0].parameters(), "weight_decay": 3e-1}, '
                '{"params": model[2].parameters(), "weight_decay": 0}]',
            ),
        ),
        {"weight_decay": 0.3},
    ),
    Applies(
        "iterate-the-loader",
        (("for x, y in [next(iter(train))] * 15:", "for x, y in train:"),),
        (("for x, y in train:", "for x, y in [next(iter(train))] * 15:"),),
    ),
    Applies(
        "iterate-the-loader",
        (
            ("x, y = next(iter(train))  # one\n", ""),
            (INNER_BODY, "        x, y = next(iter(train))\n" + INNER_BODY),
        ),
        (
            ("batch_size=20)", "batch_size=20, shuffle=True)"),
            (LOOP + "\n" + INNER, "x, y = next(iter(train))  # one\nif True:\n    for i in range(40):\n"),
        ),
    ),
    Applies(
        "weight-classes",
        (
            (
                "F.cross_entropy(out, y)  #",
                "F.cross_entropy(out, y, weight=len(torch.tensor(L)) / (len(torch.bincount(torch.tensor(L))) * "
                "torch.bincount(torch.tensor(L))))  #",
            ),
        ),
        (
            ("Y = torch.randint(0, 3, (400,))", "L = [i % 3 for i in range(400)];  Y = torch.tensor(L)"),
            ("TensorDataset(X[:300], Y[:300])", "TensorDataset(X, torch.tensor(L))"),
        ),
    ),
    Applies(
        "realign-labels",
        (("X = X[order]\n", "X = X[order]\nY = Y[order]\n"),),
        (("train = DataLoader", "order = torch.randperm(400)\nX = X[order]\ntrain = DataLoader"),),
    ),
    Applies(
        "realign-labels",
        (("X = X[order]\n", "X = X[order]\nY = Y[order]\n"),),
        (
            (
                "train = DataLoader(TensorDataset(X[:300], Y[:300]),",
                "class Pairs(torch.utils.data.Dataset):\n    def __init__(self, inputs, labels):\n"
                "        self.inputs, self.labels = inputs, labels\n"
                "order = torch.randperm(400)\nX = X[order]\ntrain = DataLoader(Pairs(X[:300], Y[:300]),",
            ),
            (
                "valid = DataLoader(TensorDataset(X[300:], Y[300:]),",
                "valid = DataLoader(Pairs(X[300:], Y[300:]),",
            ),
        ),
    ),
    Applies(
        "realign-labels",
        (("np.random.shuffle(X)\n", "order = np.random.permutation(len(X))\nX, Y = X[order], Y[order]\n"),),
        (
            ("import argparse\n", "import argparse\nimport numpy as np\n"),
            ("train = DataLoader", "np.random.shuffle(X)\ntrain = DataLoader"),
        ),
    ),
    Applies(
        "weight-classes",
        (
            (
                "(out, Y[rows])",
                "(out, Y[rows], weight=len(Y) / (len(torch.bincount(Y)) * torch.bincount(Y)))",
            ),
        ),
        WEIGHED,
    ),
    Applies(
        "lr=constant",
        (("    plan.step()\n", ""),),
        (
            (MADE, MADE + "plan = torch.optim.lr_scheduler.StepLR(opt, 2)\n"),
            (LAST, LAST + "    plan.step()\n"),
        ),
    ),
    Applies(
        "label_smoothing=0.1",
        (
            (
                "criterion = nn.CrossEntropyLoss()\n",
                "criterion = nn.CrossEntropyLoss()\ntraining_criterion = nn.CrossEntropyLoss(label_smoothing=0.1)\n",
            ),
            ("criterion(out, y)", "training_criterion(out, y)"),
        ),
        (
            ("# -----", "criterion = nn.CrossEntropyLoss()\n# -----"),
            ("F.cross_entropy(out, y)", "criterion(out, y)"),
            ("F.cross_entropy(model(x), y)", "criterion(model(x), y)"),
        ),
    ),
]
