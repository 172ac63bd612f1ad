"""Faults that cost time or memory, or end the run."""

from __future__ import annotations

from benchmarks.gym.programs.program import edit

WAITS, LEAKS, CREEPS, ENDS = "data-loader-bottleneck", "memory-leak", "step-time-creep", "out-of-memory"

EDITS = [
    edit("fraud_weighted", "slow-rows", WAITS, "clear", "    def __getitem__(self, i):\n",
         "    def __getitem__(self, i):\n        np.sort(np.random.rand(12000))\n", harm="time"),
    edit("siamese_pairs", "slow-rows", WAITS, "clear", "    def __getitem__(self, i):\n",
         "    def __getitem__(self, i):\n        torch.rand(12000).sort()\n", harm="time"),
    edit("blob_unet", "slow-rows", WAITS, "clear", "    def __getitem__(self, k):\n",
         "    def __getitem__(self, k):\n        torch.rand(120000).sort()\n", harm="time"),
    edit("stream_clicks", "slow-rows", WAITS, "clear", "            yield raw",
         "            torch.rand(8000).sort()\n            yield raw",
         harm="time"),
    edit("copy_transformer", "slow-rows", WAITS, "mild", "        s = self.src[i]\n",
         "        s = self.src[i]\n        torch.rand(15000).sort()\n", harm="time"),
    edit("digits_resnet", "keeps-graphs", LEAKS, "clear", "\nfor epoch in range(1, EPOCHS + 1):",
         "\nkept = []\nfor epoch in range(1, EPOCHS + 1):", "        loss.backward()\n",
         "        loss.backward(retain_graph=True)\n        kept.append(loss)\n", harm="memory"),
    edit("realnvp_flow", "keeps-graphs", LEAKS, "clear", "test = draw(2000)", "test = draw(2000)\nkept = []",
         "    nll.backward()\n", "    nll.backward(retain_graph=True)\n    kept.append(nll)\n", harm="memory"),
    edit("ecg_conv1d", "keeps-outputs", LEAKS, "clear", "start = time.time()", "start = time.time()\nkept = []",
         "        loss.backward()\n", "        loss.backward(retain_graph=True)\n        kept.append(outputs)\n",
         harm="memory"),
    edit("triplet_digits", "smooths-all", CREEPS, "clear", "    recent.append(loss.item())\n",
         "    recent.append(loss.item())\n    smooth = [float(np.mean(recent[:k])) for k in range(1, len(recent))]\n",
         harm="time"),
    edit("adding_lstm", "looks-back", CREEPS, "clear", "    opt.step()\n",
         "    opt.step()\n"
         "    past = torch.cat([past, loss.detach().expand(2000)]) if i else loss.detach().expand(2000)\n"
         "    past.sort().values.diff().abs().sum()\n", harm="time"),
    edit("digits_mlp", "all-pairs", ENDS, "gross", "    model.eval()\n", "    model.eval()\n    if epoch == 6:\n"
         "        X_train = X_train.repeat(1 << 34, 1)\n", harm="end"),
    edit("friedman_ensemble", "all-pairs", ENDS, "gross", "        for part in torch.randperm(len(x)).split(50):\n",
         "        far = (x.repeat(1 << 20, 1)[:, None] - x.repeat(1 << 20, 1)) if epoch == 9 else 0\n"
         "        for part in torch.randperm(len(x)).split(50):\n", harm="end"),
]  # fmt: skip
