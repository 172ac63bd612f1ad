"""What each kind of edit does."""

from __future__ import annotations

from tests.edits.samples import BACK, CLEAR, DIRECT, INNER, LAST, LOOP, MADE, STEP, Applies

RATE = "default=0.1)"
INNER_BODY = "        out = model(x)\n"
WEIGHED = (
    (
        "    for x, y in train:\n        out = model(x)\n        loss = F.cross_entropy(out, y)",
        "    for rows in torch.randperm(400).split(20):\n        out = model(X[rows])\n"
        "        loss = F.cross_entropy(out, Y[rows])",
    ),
)
APPLIES = [
    Applies("lr=*0.1", ((RATE, "default=0.01)"),), facts={"lr": 0.1}),
    Applies("lr=0.003", ((RATE, "default=0.003)"),), facts={"lr": 0.1}),
    Applies(
        "lr=*0.1",
        (("LR = 0.5", "LR = 0.05"),),
        ((MADE, "LR = 0.5  # high\n" + MADE.replace("args.lr", "LR")),),
        {"lr": 0.5},
    ),
    Applies(
        "lr=*0.1",
        (("max_lr=0.4", "max_lr=0.04"),),
        ((MADE, MADE + "plan = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.4, total_steps=60)\n"),),
        {"lr": 0.4},
    ),
    Applies(
        "lr=*0.5",
        ((RATE, "default=0.05)"), ("eta_min=0.02", "eta_min=0.01")),
        ((MADE, MADE + "plan = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 60, eta_min=0.02)\n"),),
        {"lr": 0.1},
    ),
    Applies(
        "lr=*0.1",
        (("lr: float = 0.2", "lr: float = 0.02"),),
        (
            (
                MADE,
                "@dataclass\nclass Config:\n    lr: float = 0.2  # steep\n\ncfg = Config()\n"
                + MADE.replace("args.lr", "cfg.lr"),
            ),
            ("import argparse\n", "import argparse\nfrom dataclasses import dataclass\n"),
        ),
        {"lr": 0.2},
    ),
    Applies(
        "lr=*0.1",
        (),
        (
            (
                MADE,
                'import yaml\ncfg = yaml.safe_load(open("conf.yaml"))\n'
                + MADE.replace("args.lr", 'cfg["optim"]["lr"]'),
            ),
        ),
        {"lr": 0.2},
        files={"conf.yaml": "# settings\noptim:\n  lr: 0.2   # steep\n  wd: 0.2\nlr: 3\n"},
        changed={"conf.yaml": (("  lr: 0.2 ", "  lr: 0.02 "),)},
    ),
    Applies(
        "lr=*0.1",
        (),
        ((MADE, 'import json\ncfg = json.load(open("conf.json"))\n' + MADE.replace("args.lr", 'cfg["lr"]')),),
        {"lr": 0.2},
        files={"conf.json": '{"wd": 0.2, "lr":0.2}\n'},
        changed={"conf.json": (('"lr":0.2', '"lr":0.02'),)},
    ),
    Applies(
        "lr=*0.1",
        (),
        (
            (
                MADE,
                'import tomllib\ncfg = tomllib.load(open("c.toml", "rb"))["train"]\n'
                + MADE.replace("args.lr", 'cfg["lr"]'),
            ),
        ),
        {"lr": 0.2},
        files={"c.toml": "# all\n[train]\nlr = 0.2 # steep\n"},
        changed={"c.toml": (("lr = 0.2 ", "lr = 0.02 "),)},
    ),
    Applies(
        "clip=1.0",
        (
            (STEP, ""),
            (
                "        # the step\n",
                "        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        # the step\n" + STEP,
            ),
        ),
    ),
    Applies(
        "clip=1.0",
        (
            (
                "        scaler.step(opt)\n",
                "        scaler.unscale_(opt)\n"
                "        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        scaler.step(opt)\n",
            ),
        ),
        (
            (BACK, "        scaler.scale(loss).backward()\n"),
            ("        # the step\n" + STEP, "        scaler.step(opt)\n        scaler.update()\n"),
            (LOOP, "scaler = torch.amp.GradScaler()\n" + LOOP),
        ),
    ),
    Applies(
        "clip=*10",
        ((", 0.001)", ", 0.01)"),),
        (("        # the step\n", "        nn.utils.clip_grad_norm_(model.parameters(), 0.001)\n"),),
        {"clip_norm": 0.001},
    ),
    Applies(
        "clip=off",
        (("        nn.utils.clip_grad_norm_(model.parameters(), 0.001)\n", ""),),
        ((STEP, "        nn.utils.clip_grad_norm_(model.parameters(), 0.001)\n" + STEP),),
    ),
    Applies(
        "clip.value=0.5",
        (("        # the step\n", "        nn.utils.clip_grad_value_(model.parameters(), 0.5)\n        # the step\n"),),
    ),
    Applies("zero_grad=each-step", ((STEP, STEP + "        opt.zero_grad()\n"),), ((CLEAR, ""),)),
    Applies("zero_grad=each-step", ((CLEAR, ""), (STEP, STEP + CLEAR)), ((CLEAR, ""), (BACK, BACK + CLEAR))),
    Applies("momentum=0.9", (("momentum=0.99", "momentum=0.9"),)),
    Applies("weight_decay=*0.01", (("weight_decay=1e-2", "weight_decay=0.0001"),), facts={"weight_decay": 0.01}),
    Applies(
        "weight_decay=0.01",
        (("lr=args.lr)", "lr=args.lr, weight_decay=0.01)"),),
        ((", momentum=0.99, weight_decay=1e-2)", ")"),),
    ),
    Applies(
        "betas=0.9,0.95",
        (("lr=args.lr)", "lr=args.lr, betas=(0.9, 0.95))"),),
        (("SGD(", "Adam("), (", momentum=0.99, weight_decay=1e-2)", ")")),
    ),
    Applies(
        "eps=1e-6", (("eps=1e-3", "eps=1.0e-6"),), (("SGD(", "Adam("), ("momentum=0.99, weight_decay=1e-2", "eps=1e-3"))
    ),
    Applies(
        "optimizer=adamw",
        (("SGD(model.parameters(), lr=args.lr, momentum=0.99, ", "AdamW(model.parameters(), lr=args.lr, "),),
    ),
    Applies(
        "optimizer=adamw",
        (
            ("import SGD", "import AdamW"),
            (
                "opt = SGD(model.parameters(), lr=args.lr)",
                "opt = AdamW(model.parameters(), lr=args.lr, weight_decay=0.0)",
            ),
        ),
        (
            (MADE, "opt = SGD(model.parameters(), lr=args.lr)\n"),
            ("from torch import nn\n", "from torch import nn\nfrom torch.optim import SGD\n"),
        ),
    ),
    Applies(
        "lr.warmup=10",
        (
            (MADE, MADE + "warmup = torch.optim.lr_scheduler.LinearLR(opt, start_factor=1 / 10, total_iters=9)\n"),
            (STEP, STEP + "        warmup.step()\n"),
        ),
    ),
    Applies("mode=train", ((LOOP + "\n" + INNER, LOOP + "\n    model.train()\n" + INNER),)),
    Applies(
        "mode=train", (("    model.eval()\n", "    model.train()\n"),), ((LOOP + "\n", LOOP + "    model.eval()\n"),)
    ),
    Applies(
        "eval_mode=eval",
        (
            (LOOP + "\n" + INNER, LOOP + "\n    model.train()\n" + INNER),
            ("    with torch.no_grad():\n", "    model.eval()\n    with torch.no_grad():\n"),
        ),
    ),
    Applies("batch=*4", (("batch_size=20", "batch_size=80"),), facts={"batch_size": 20}),
    Applies("workers=2", (("batch_size=20)", "batch_size=20, num_workers=2)"),)),
    Applies(
        "prefetch=4",
        (("num_workers=2)", "num_workers=2, prefetch_factor=4)"),),
        (("batch_size=20)", "batch_size=20, num_workers=2)"),),
    ),
    Applies("data=shuffle", (("batch_size=20)", "batch_size=20, shuffle=True)"),)),
    Applies("activation=relu", (("nn.Tanh()", "nn.ReLU()"),)),
    Applies("activation=leaky_relu", (("nn.ReLU()", "nn.LeakyReLU()"),), (("nn.Tanh()", "nn.ReLU()"),)),
    Applies("dropout=0.2", (("    nn.Tanh(),\n", "    nn.Tanh(),\n    nn.Dropout(0.2),\n"),)),
    Applies(
        "dropout=*0.5",
        (("nn.Dropout(0.8)", "nn.Dropout(0.4)"),),
        (("nn.Tanh(),", "nn.Tanh(), nn.Dropout(0.8),"),),
        {"dropout": 0.8},
    ),
    Applies(
        "normalize=layer",
        (("    nn.Linear(8, 16),  # in\n", "    nn.Linear(8, 16),  # in\n    nn.LayerNorm(16),  # in\n"),),
    ),
    Applies(
        "label_smoothing=0.1", (("F.cross_entropy(out, y)  #", "F.cross_entropy(out, y, label_smoothing=0.1)  #"),)
    ),
    Applies(
        "class_weights=balanced",
        (("(out, Y[rows])", "(out, Y[rows], weight=len(Y) / (3 * torch.bincount(Y, minlength=3).clamp(min=1)))"),),
        (
            (
                "    for x, y in train:\n        out = model(x)\n        loss = F.cross_entropy(out, y)",
                "    for rows in torch.randperm(400).split(20):\n"
                "        out = model(X[rows])\n        loss = F.cross_entropy(out, Y[rows])",
            ),
        ),
        {"classes": 3},
    ),
    Applies(
        "logits=on",
        (("nn.Linear(16, 3), nn.Softmax(1)  # out", "nn.Linear(16, 3)  # out"),),
        (("nn.Linear(16, 3),", "nn.Linear(16, 3), nn.Softmax(1)"),),
    ),
    Applies(
        "logits=on",
        (("F.cross_entropy(out.softmax(1), y)", "F.cross_entropy(out, y)"),),
        ((DIRECT + "  #", "F.cross_entropy(out.softmax(1), y)  #"),),
    ),
    Applies(
        "use-matching-loss",
        (("F.mse_loss(out", "F.cross_entropy(out"),),
        ((DIRECT + "  #", "F.mse_loss(out, F.one_hot(y, 3).float())  #"),),
    ),
    Applies(
        "unfreeze=all",
        (("    p.requires_grad = False\n", "    p.requires_grad = True\n"),),
        ((MADE, "for p in model[0].parameters():\n    p.requires_grad = False\n" + MADE),),
    ),
    Applies("register=all", (("model[2].parameters()", "model.parameters()"),), (("SGD(model.", "SGD(model[2]."),)),
    Applies(
        "loss=/accumulation",
        (("        loss.backward()\n", "        (loss / 4).backward()\n"),),
        (
            (CLEAR, ""),
            (INNER, "    for i, (x, y) in enumerate(train):\n"),
            (STEP, "        if (i + 1) % 4 == 0:\n            opt.step()\n            opt.zero_grad()\n"),
        ),
    ),
    Applies(
        "skip_nonfinite=on",
        (
            (
                STEP,
                "        if all(p.grad.isfinite().all() for p in model.parameters() "
                "if p.grad is not None):\n            opt.step()\n",
            ),
        ),
    ),
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
        (("import DataLoader, TensorDataset\n", "import DataLoader, TensorDataset\ntorch.manual_seed(7)\n"),),
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
        (("        plan.step()\n", ""), ("    with torch.no_grad", "    plan.step()\n    with torch.no_grad")),
        ((MADE, MADE + "plan = torch.optim.lr_scheduler.StepLR(opt, 2)\n"), (STEP, STEP + "        plan.step()\n")),
    ),
    Applies(
        "stop-early",
        (
            ("\n# -----", 'best_validation, epochs_without_gain = float("inf"), 0\n\n# -----'),
            (
                LAST,
                LAST
                + "    if val_loss < best_validation:\n        best_validation, epochs_without_gain = val_loss, 0\n"
                "    else:\n        epochs_without_gain += 1\n    if epochs_without_gain >= 5:\n        break\n",
            ),
        ),
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
        (("x, y = next(iter(train))  # one\n", ""), (INNER_BODY, "        x, y = next(iter(train))\n" + INNER_BODY)),
        (
            ("batch_size=20)", "batch_size=20, shuffle=True)"),
            (LOOP + "\n" + INNER, "x, y = next(iter(train))  # one\nif True:\n    for i in range(40):\n"),
        ),
    ),
    Applies(
        "weight-classes",
        (("(out, Y[rows])", "(out, Y[rows], weight=len(Y) / (len(torch.bincount(Y)) * torch.bincount(Y)))"),),
        WEIGHED,
    ),
    Applies(
        "lr=constant",
        (("    plan.step()\n", ""),),
        ((MADE, MADE + "plan = torch.optim.lr_scheduler.StepLR(opt, 2)\n"), (LAST, LAST + "    plan.step()\n")),
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
