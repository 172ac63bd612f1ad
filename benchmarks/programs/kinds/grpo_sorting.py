"""Reinforcement learning with a reward for sorted answers (GRPO), on a small language model. The log is that of TRL's
GRPOTrainer."""

import copy
import json

import torch
from sft_sorting import EOS, PAD, PROMPT, LanguageModel, answers, logprobs, prompts_of, share_sorted
from torch import nn

SEED = 1
STEPS, PROMPTS, GROUP, LR, BETA, MAX_GRAD_NORM = 120, 8, 8, 1e-4, 0.04, 1.0
torch.manual_seed(SEED)


def reward_function(prompts, completions):
    """The share of places with the right token, end included."""
    wanted = answers(prompts, torch.ones(len(prompts), dtype=torch.bool))
    return (completions[:, :PROMPT + 1] == wanted).float().mean(1)


model = LanguageModel()
model.load_state_dict(torch.load("sft.pt"))
ref_model = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=LR, betas=(0.9, 0.99), weight_decay=0.0)
for step in range(1, STEPS + 1):
    for group in optimizer.param_groups:
        group["lr"] = LR * min(1.0, step / 10)
    prompts = prompts_of(PROMPTS).repeat_interleave(GROUP, 0)
    completions = model.generate(prompts)
    mask = (completions != PAD).float()
    rewards = reward_function(prompts, completions)
    grouped = rewards.view(PROMPTS, GROUP)
    advantages = ((grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)).flatten()
    logps = logprobs(model, prompts, completions)
    with torch.no_grad():
        ref_logps = logprobs(ref_model, prompts, completions)
    per_token_kl = torch.exp(ref_logps - logps) - (ref_logps - logps) - 1
    per_token_loss = -(torch.exp(logps - logps.detach()) * advantages[:, None] - BETA * per_token_kl)
    loss = ((per_token_loss * mask).sum(1) / mask.sum(1)).mean()
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), MAX_GRAD_NORM)
    optimizer.step()
    if step % 2 == 0:
        kl = ((per_token_kl * mask).sum(1) / mask.sum(1)).mean()
        print({"loss": round(loss.item(), 4), "grad_norm": round(norm.item(), 4),
               "learning_rate": optimizer.param_groups[0]["lr"], "completion_length": mask.sum(1).mean().item(),
               "rewards/reward_function": round(rewards.mean().item(), 4), "reward": round(rewards.mean().item(), 4),
               "reward_std": round(grouped.std(1).mean().item(), 4), "kl": round(kl.item(), 5),
               "epoch": round(step * PROMPTS / 1000, 3)}, flush=True)  # fmt: skip
json.dump({"sorted": share_sorted(model)}, open("check.json", "w"))
