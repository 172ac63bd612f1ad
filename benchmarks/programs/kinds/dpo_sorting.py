"""Direct preference optimization of a small language model: sorted answers are preferred to copied ones. The log is
that of TRL's DPOTrainer."""

import copy
import json

import torch
from sft_sorting import LanguageModel, answers, logprobs, prompts_of, share_sorted
from torch import nn
from torch.nn import functional as F

SEED = 1
STEPS, BATCH, LR, BETA, MAX_GRAD_NORM = 300, 32, 5e-5, 0.3, 1.0
torch.manual_seed(SEED)


def pairs(n):
    """Prompt, chosen, rejected; with one in fifty the annotators erred."""
    prompts = prompts_of(n)
    right = torch.rand(n) > 0.02
    return prompts, answers(prompts, right), answers(prompts, ~right)


def sequence_logps(model, prompts, completions):
    return logprobs(model, prompts, completions).sum(1)


model = LanguageModel()
model.load_state_dict(torch.load("sft.pt"))
ref_model = copy.deepcopy(model).requires_grad_(False)
held = pairs(256)
train_set = pairs(2000)


def batch_metrics(batch):
    prompts, chosen, rejected = batch
    policy_chosen, policy_rejected = sequence_logps(model, prompts, chosen), sequence_logps(model, prompts, rejected)
    with torch.no_grad():
        ref_chosen, ref_rejected = sequence_logps(ref_model, prompts, chosen), sequence_logps(ref_model, prompts, rejected)
    chosen_rewards = BETA * (policy_chosen - ref_chosen)
    rejected_rewards = BETA * (policy_rejected - ref_rejected)
    loss = -F.logsigmoid(chosen_rewards - rejected_rewards).mean()
    return loss, {
        "rewards/chosen": chosen_rewards.mean().item(), "rewards/rejected": rejected_rewards.mean().item(),
        "rewards/accuracies": (chosen_rewards > rejected_rewards).float().mean().item(),
        "rewards/margins": (chosen_rewards - rejected_rewards).mean().item(),
        "logps/chosen": policy_chosen.mean().item(), "logps/rejected": policy_rejected.mean().item()}


optimizer = torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=0.0)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 40) * (1 - s / STEPS))
logged = []
for step in range(1, STEPS + 1):
    rows = torch.randint(0, len(train_set[0]), (BATCH,))
    loss, metrics = batch_metrics([part[rows] for part in train_set])
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), MAX_GRAD_NORM)
    optimizer.step()
    schedule.step()
    logged.append({"loss": loss.item(), "grad_norm": norm.item(), "learning_rate": schedule.get_last_lr()[0], **metrics})
    if step % 10 == 0:
        row = {name: round(sum(one[name] for one in logged) / len(logged), 6) for name in logged[0]}
        print({**row, "epoch": round(step * BATCH / 2000, 2)}, flush=True)
        logged = []
    if step % 100 == 0:
        with torch.no_grad():
            loss, metrics = batch_metrics(held)
        print({"eval_loss": round(loss.item(), 6), **{f"eval_{k}": round(v, 6) for k, v in metrics.items()},
               "epoch": round(step * BATCH / 2000, 2)}, flush=True)
torch.manual_seed(99)
prompts = prompts_of(500)
right = torch.ones(500, dtype=torch.bool)
with torch.no_grad():
    good = logprobs(model, prompts, answers(prompts, right)).sum(1)
    bad = logprobs(model, prompts, answers(prompts, ~right)).sum(1)
json.dump({"sorted": share_sorted(model), "better pairs": (good > bad + 1e-6).float().mean().item(),
           "chosen": good.mean().item()}, open("check.json", "w"))
