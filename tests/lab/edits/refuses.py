"""What each kind of edit leaves to a person."""

from __future__ import annotations

from tests.lab.edits.samples import BACK, DIRECT, LOOP, MADE, STEP, Refuses

GAN = (
    (STEP, STEP + "        opt2.step()\n"),
    (MADE, MADE + MADE.replace("opt =", "opt2 =")),
    (BACK, BACK + BACK),
)
REFUSES = [
    Refuses("lr=*0.1", "command line", facts={"lr": 0.3}, arguments=("--lr", "0.3")),
    Refuses("lr=*0.1", "was recorded", facts={"lr": 0.3}),
    Refuses("lr=*0.1", "cannot tell where", ((LOOP, "args.lr = args.lr * 3\n" + LOOP),)),
    Refuses("lr=*0.1", "each step itself", ((STEP, '        opt.param_groups[0]["lr"] = 0.1\n' + STEP),)),
    Refuses("clip=1.0", "no optimizer.step()", ((STEP, "        pass\n"),)),
    Refuses("clip=1.0", "larger statement", ((STEP, "        seen = opt.step()\n"),)),
    Refuses("clip.value=1.0", "no optimizer.step()", ((STEP, "        pass\n"),)),
    Refuses("zero_grad=each-step", "no optimizer.step()", ((STEP, "        pass\n"),)),
    Refuses("momentum=0.9", "has no momentum", (("SGD(", "Adam("), ("momentum=0.99, ", ""))),
    Refuses(
        "weight_decay=0.01",
        "groups",
        (
            ("model.parameters()", '[{"params": model.parameters(), "weight_decay": 0}, {"params": []}]'),
            (", weight_decay=1e-2", ""),
        ),
    ),
    Refuses("betas=0.9,0.99", "has no betas"),
    Refuses("eps=1e-8", "has no eps"),
    Refuses("optimizer=adam", "arguments", (("lr=args.lr, ", "lr=args.lr, **vars(args), "),)),
    Refuses(
        "lr.warmup=10",
        "schedule already",
        ((MADE, MADE + "plan = torch.optim.lr_scheduler.StepLR(opt, 2)\n"),),
    ),
    Refuses("lr.warmup=0.1", "how many"),
    Refuses("mode=train", "calls of backward", GAN),
    Refuses("eval_mode=eval", "without gradients", (("with torch.no_grad():", "if True:"),)),
    Refuses(
        "batch=*4",
        "was not found",
        (("in train:\n        out", "in pairs(X, Y):\n        out"),),
    ),
    Refuses("batch=*4", "was recorded", facts={"batch_size": 32}),
    Refuses(
        "workers=2",
        "was not found",
        (("in train:\n        out", "in zip(X.split(9), Y.split(9)):\n        out"),),
    ),
    Refuses("prefetch=4", "no workers"),
    Refuses("realign-labels", "without its partner"),
    Refuses(
        "realign-labels",
        "without its partner",
        (("train = DataLoader", "i = torch.randperm(400)\nX = X[i]\nY = Y[i]\ntrain = DataLoader"),),
    ),
    Refuses(
        "realign-labels",
        "several arrays",
        (("train = DataLoader", "i = torch.randperm(400)\nX = X[i]\nX = X[i]\ntrain = DataLoader"),),
    ),
    Refuses("data=shuffle", "sampler", (("batch_size=20)", "batch_size=20, sampler=range(300))"),)),
    Refuses("activation=relu", "no hidden", (("    nn.Tanh(),\n", ""),)),
    Refuses("dropout=0.2", "no hidden", (("    nn.Tanh(),\n", ""),)),
    Refuses(
        "normalize=layer", "already has normalization", (("nn.Tanh()", "nn.BatchNorm1d(16), nn.Tanh()"),)
    ),
    Refuses("label_smoothing=0.1", "has none", ((DIRECT + "  #", "F.nll_loss(out, y)  #"),)),
    Refuses("class_weights=balanced", "which tensor", (("TensorDataset(X[:300], Y[:300])", "Samples()"),)),
    Refuses(
        "logits=on",
        "could squash",
        ((DIRECT + "  #", "F.cross_entropy(out.softmax(1), y)  #"), ("16, 3),", "16, 3), nn.Softmax(1)")),
    ),
    Refuses("use-matching-loss", "are classes", ((DIRECT + "  #", "F.mse_loss(out, y)  #"),)),
    Refuses("unfreeze=all", "not found"),
    Refuses(
        "match-output-to-loss",
        "not known to exceed",
        (
            ("    nn.Linear(16, 3),  # out\n", "    nn.Linear(16, 3),\n    nn.Tanh(),\n"),
            (DIRECT, "F.mse_loss(out, y)"),
        ),
        {"targets_min": -0.9, "targets_max": 0.9},
    ),
    Refuses("match-output-to-loss", "0 places", facts={"outputs_last_activation": "relu"}),
    Refuses("register=all", "not found", (("model.parameters()", "[*model.parameters()][:2]"),)),
    Refuses("loss=/accumulation", "how many"),
    Refuses("skip_nonfinite=on", "larger statement", ((STEP, "        seen = opt.step()\n"),)),
    Refuses("precision=bfloat16", "no autocast"),
    Refuses(
        "seed=7",
        "cannot tell where",
        (("( 3 )", "(int(X_SEED))"), ("parser = ", "import os\nX_SEED = os.environ['SEED']\nparser = ")),
    ),
    Refuses("init=he", "loads weights", ((MADE, "model.load_state_dict({})\n" + MADE),)),
    Refuses("release-graph", "not found"),
    Refuses("reattach-graph", "0 cuts"),
    Refuses("step-the-optimizer", "calls of backward", (("        # the step\n" + STEP, BACK),)),
    Refuses("repair-schedule", "not seen"),
    Refuses("stop-early", "validation loss", (("val_loss = ", "seen = "), (", val_loss)", ", seen)"))),
    Refuses("mask-the-future", "no attention"),
    Refuses("targets=standardize", "scale of the targets is unknown"),
    Refuses("steps=*2", "not over a range", (("range(4)", "(0, 1)"),)),
    Refuses(
        "reduce-on-plateau",
        "a schedule",
        ((MADE, MADE + "plan = torch.optim.lr_scheduler.StepLR(opt, 2)\n"),),
    ),
    Refuses("inputs=standardize", "shape"),
    Refuses(
        "inputs=standardize",
        "tensors with names",
        (("TensorDataset(X[:300], Y[:300])", "list(zip(X, Y))"),),
        {"inputs_shape": "8"},
    ),
    Refuses("iterate-the-loader", "not found"),
    Refuses("lr=constant", "no schedule"),
    Refuses(
        "lr=constant",
        "does not start",
        ((MADE, MADE + "plan = torch.optim.lr_scheduler.LinearLR(opt)\n"),),
    ),
]
