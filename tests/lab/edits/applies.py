"""What each kind of edit does."""

from __future__ import annotations

from tests.lab.edits.applies_to_data import MORE
from tests.lab.edits.samples import BACK, CLEAR, DIRECT, INNER, LOOP, MADE, STEP, Applies

RATE = "default=0.1)"
APPLIES = [
    Applies("lr=*0.1", ((RATE, "default=0.01)"),), facts={"lr": 0.1}),
    Applies("lr=0.003", ((RATE, "default=0.003)"),), facts={"lr": 0.1}),
    Applies(
        "lr=*0.1",
        (("LR = 0.5", "LR = 0.05"),),
        ((MADE, "LR = 0.5  # high\n" + MADE.replace("args.lr", "LR")),),
        {"lr": 0.5},
    ),
    Applies(  # an entry of the settings is no rate of a step
        "lr=*0.1",
        ((RATE, "default=0.01)"),),
        ((MADE, 'settings = {}\nsettings["lr"] = args.lr\n' + MADE),),
        {"lr": 0.1},
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
        (
            (
                MADE,
                'import json\ncfg = json.load(open("conf.json"))\n' + MADE.replace("args.lr", 'cfg["lr"]'),
            ),
        ),
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
        (
            (
                "        # the step\n",
                "        nn.utils.clip_grad_value_(model.parameters(), 0.5)\n        # the step\n",
            ),
        ),
    ),
    Applies("zero_grad=each-step", ((STEP, STEP + "        opt.zero_grad()\n"),), ((CLEAR, ""),)),
    Applies("zero_grad=each-step", ((CLEAR, ""), (STEP, STEP + CLEAR)), ((CLEAR, ""), (BACK, BACK + CLEAR))),
    Applies("momentum=0.9", (("momentum=0.99", "momentum=0.9"),)),
    Applies(
        "weight_decay=*0.01", (("weight_decay=1e-2", "weight_decay=0.0001"),), facts={"weight_decay": 0.01}
    ),
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
        "eps=1e-6",
        (("eps=1e-3", "eps=1.0e-6"),),
        (("SGD(", "Adam("), ("momentum=0.99, weight_decay=1e-2", "eps=1e-3")),
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
            (
                MADE,
                MADE
                + "warmup = torch.optim.lr_scheduler.LinearLR(opt, start_factor=1 / 10, total_iters=9)\n",
            ),
            (STEP, STEP + "        warmup.step()\n"),
        ),
    ),
    Applies("mode=train", ((LOOP + "\n" + INNER, LOOP + "\n    model.train()\n" + INNER),)),
    Applies(
        "mode=train",
        (("    model.eval()\n", "    model.train()\n"),),
        ((LOOP + "\n", LOOP + "    model.eval()\n"),),
    ),
    Applies(
        "eval_mode=eval",
        (
            (LOOP + "\n" + INNER, LOOP + "\n    model.train()\n" + INNER),
            ("    with torch.no_grad():\n", "    model.eval()\n    with torch.no_grad():\n"),
        ),
    ),
    Applies("batch=*4", (("batch_size=20", "batch_size=80"),), facts={"batch_size": 20}),
    Applies(  # the whole data set as one batch
        "batch=*0.0625",
        (("batch_size=len(X)", "batch_size=25"),),
        (("batch_size=20", "batch_size=len(X)"),),
        facts={"batch_size": 400},
    ),
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
        "label_smoothing=0.1",
        (("F.cross_entropy(out, y)  #", "F.cross_entropy(out, y, label_smoothing=0.1)  #"),),
    ),
    Applies(  # the labels of the data set
        "class_weights=balanced",
        (
            (
                "(out, y)",
                "(out, y, weight=len(Y[:300]) / (3 * torch.bincount(Y[:300], minlength=3).clamp(min=1)))",
            ),
        ),
        facts={"classes": 3},
    ),
    Applies(
        "class_weights=balanced",
        (
            (
                "(out, Y[rows])",
                "(out, Y[rows], weight=len(Y) / (3 * torch.bincount(Y, minlength=3).clamp(min=1)))",
            ),
        ),
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
    Applies(  # the optimizer was given only what was not frozen, by a condition that holds for all now
        "unfreeze=all",
        (("    p.requires_grad = False\n", "    p.requires_grad = True\n"),),
        (
            (
                MADE,
                "for p in model[0].parameters():\n    p.requires_grad = False\n"
                + MADE.replace("model.parameters()", "[p for p in model.parameters() if p.requires_grad]"),
            ),
        ),
    ),
    Applies(  # a setting freezes a part, and another part is not frozen
        "unfreeze=all",
        (("requires_grad_(not frozen)", "requires_grad_(True)"),),
        (
            (
                MADE,
                "frozen = True\nmodel[0].requires_grad_(not frozen)\nmodel[2].requires_grad_(True)\n" + MADE,
            ),
        ),
    ),
    Applies(  # groups hold all parameters: nothing is to be added
        "unfreeze=all",
        (("    p.requires_grad = False\n", "    p.requires_grad = True\n"),),
        (
            (
                MADE,
                "for p in model[0].parameters():\n    p.requires_grad = False\n"
                + MADE.replace(
                    "model.parameters()",
                    '[{"params": model[0].parameters()}, {"params": model[2].parameters()}]',
                ),
            ),
        ),
    ),
    Applies(  # or only the head
        "unfreeze=all",
        (
            ("    p.requires_grad = False\n", "    p.requires_grad = True\n"),
            ("model[2].parameters()", "model.parameters()"),
        ),
        (
            (
                MADE,
                "for p in model[0].parameters():\n    p.requires_grad = False\n"
                + MADE.replace("model.parameters()", "model[2].parameters()"),
            ),
        ),
    ),
    Applies(
        "register=all",
        (("model[2].parameters()", "model.parameters()"),),
        (("SGD(model.", "SGD(model[2]."),),
    ),
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
        "match-output-to-loss",
        (("    nn.Tanh(),  # to one\n", ""),),
        (
            ("    nn.Linear(16, 3),  # out\n", "    nn.Linear(16, 3),  # out\n    nn.Tanh(),  # to one\n"),
            (DIRECT, "F.mse_loss(out, y)"),
        ),
        {"targets_min": -3.0, "targets_max": 3.0},
    ),
    Applies(
        "match-output-to-loss",
        (("nn.Softmax(dim=1)", "nn.Sigmoid()"),),
        (
            ("    nn.Linear(16, 3),  # out\n", "    nn.Linear(16, 1),  # out\n    nn.Softmax(dim=1),\n"),
            (DIRECT, "F.binary_cross_entropy(out, y)"),
        ),
        {"outputs_width": 1},
    ),
    Applies(
        "match-output-to-loss",
        (("    nn.ReLU(),\n", ""),),
        (("    nn.Linear(16, 3),  # out\n", "    nn.Linear(16, 3),  # out\n    nn.ReLU(),\n"),),
    ),
    *MORE,
]
