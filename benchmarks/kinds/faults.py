"""Faults of agents, of adversarial nets and autoencoders, and of preference tuning, as the literature describes them."""

from __future__ import annotations

from benchmarks.kinds.cases import A2C, DPO, DQN, GAN, GRPO, PPO, RATE, VAE, WEIGHTS, WGAN, WRONG, Case

EXPLORING, MOVES, Q, WINS, COLLAPSES, UNLIKELY = (
    "policy-stops-exploring",
    "policy-moves-too-far",
    "q-values-explode",
    "discriminator-wins",
    "posterior-collapses",
    "chosen-answers-become-unlikely",
)
FAULTS = (
    # reinforcement learning
    Case(
        PPO,
        "rate-too-high",
        (RATE,),
        (MOVES,),
        (("CLIP, ENT_COEF, VF_COEF, MAX_GRAD_NORM = 1e-3", "CLIP, ENT_COEF, VF_COEF, MAX_GRAD_NORM = 0.1"),),
    ),
    Case(
        PPO,
        "clipping-off",
        (RATE, WRONG),
        (MOVES,),
        (
            (
                "-torch.min(advantage * ratio, advantage * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()",
                "-(advantage * ratio).mean()",
            ),
            ("64, 70, 4, 4", "64, 70, 20, 4"),
        ),
    ),
    Case(
        PPO, "entropy-punished", (WEIGHTS,), (EXPLORING,), (("0.2, 0.01, 0.5, 0.5", "0.2, -0.5, 0.5, 0.5"),)
    ),
    Case(
        PPO,
        "sign-of-the-policy-loss",
        (WRONG,),
        (),
        (("policy_loss = -torch.min", "policy_loss = torch.min"),),
    ),
    Case(PPO, "done-ignored", (WRONG,), (), (("alive = 1 - data", "alive = 1 - 0 * data"),)),
    Case(
        PPO,
        "huge-rewards",
        ("unnormalized-targets", WEIGHTS),
        (),
        (
            ("REWARD = 1.0", "REWARD = 1000.0"),
            ("            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)\n", ""),
        ),
    ),
    Case(
        PPO,
        "shared-net-value-swamps",
        (WEIGHTS,),
        (),
        (
            (
                "        self.actor = nn.Sequential(layer(4, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 2, 0.01))\n"
                "        self.critic = nn.Sequential(layer(4, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 1, 1.0))\n",
                "        body = nn.Sequential(layer(4, 64), nn.Tanh(), layer(64, 64), nn.Tanh())\n"
                "        self.actor = nn.Sequential(body, layer(64, 2, 0.01))\n"
                "        self.critic = nn.Sequential(body, layer(64, 1, 1.0))\n",
            ),
            ("0.2, 0.01, 0.5, 0.5", "0.2, 0.01, 50.0, 0.5"),
        ),
    ),
    Case(
        DQN,
        "no-target-network",
        (WRONG, "unstable-bootstrapping"),
        (Q,),
        (
            (
                "GAMMA * target_network(after).max(1).values * (1 - done)",
                "GAMMA * q_network(after).max(1).values",
            ),
            ("1e-3, 0.99, 128", "1e-3, 1.0, 128"),
        ),
    ),
    Case(
        DQN,
        "done-ignored",
        (WRONG, "unstable-bootstrapping"),
        (),
        (("max(1).values * (1 - done)", "max(1).values"),),
    ),
    Case(
        DQN,
        "tiny-buffer",
        ("too-little-data", "repeated-batch", "batch-too-small"),
        (),
        (("128, 20000, 50", "128, 8, 50"),),
    ),
    Case(
        DQN,
        "always-random",
        (WEIGHTS, "too-little-data"),
        (),
        (("START_E, END_E, EXPLORATION = 1.0, 0.05", "START_E, END_E, EXPLORATION = 1.0, 1.0"),),
    ),
    Case(DQN, "rate-too-high", (RATE,), (Q,), (("1e-3, 0.99, 128", "0.1, 0.99, 128"),)),
    Case(
        DQN,
        "target-never-updated",
        (WRONG, "unstable-bootstrapping"),
        (),
        (("128, 20000, 50", "128, 20000, 10**9"),),
    ),
    Case(A2C, "rate-too-high", (RATE,), (EXPLORING,), (("2e-3, 0.97", "0.3, 0.97"),)),
    Case(A2C, "value-loss-swamps", (WEIGHTS,), (), (("0.01, 0.5, 0.5", "0.01, 500.0, 0.5"),)),
    Case(A2C, "entropy-punished", (WEIGHTS,), (EXPLORING,), (("0.97, 0.01, 0.5", "0.97, -0.3, 0.5"),)),
    Case(A2C, "entropy-swamps", (WEIGHTS,), (), (("0.97, 0.01, 0.5", "0.97, 5.0, 0.5"),)),
    Case(
        A2C,
        "sign-of-the-policy-loss",
        (WRONG,),
        (EXPLORING,),
        (("policy_loss = -(logprobs", "policy_loss = (logprobs"),),
    ),
    Case(
        A2C,
        "huge-rewards",
        ("unnormalized-targets", WEIGHTS),
        (EXPLORING,),
        (
            ("GOAL, STEP_COST = 10.0, -0.1", "GOAL, STEP_COST = 10000.0, -100.0"),
            ("    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)\n", ""),
            (
                "VF_LOSS_COEFF, GRAD_CLIP = 2e-3, 0.97, 0.01, 0.5, 0.5",
                "VF_LOSS_COEFF, GRAD_CLIP = 2e-3, 0.97, 0.01, 0.5, 1e9",
            ),
        ),
    ),
    # adversarial nets and variational autoencoders
    Case(
        GAN, "discriminator-wins", (RATE, "unbalanced-opponents"), (WINS,), (("1e-3, 5e-4", "2e-5, 1e-2"),)
    ),
    Case(GAN, "generator-rate-too-high", (RATE, "unbalanced-opponents"), (), (("1e-3, 5e-4", "0.2, 5e-4"),)),
    Case(GAN, "mode-collapse", ("unbalanced-opponents", RATE), (), (("1e-3, 5e-4", "2e-2, 2e-5"),)),
    Case(
        GAN,
        "wrong-generator-label",
        (WRONG, "misaligned-labels"),
        (),
        (("errG = criterion(output, ones)", "errG = criterion(output, zeros)"),),
    ),
    Case(
        GAN,
        "saturating-loss",
        (WRONG, "unbalanced-opponents"),
        (WINS,),
        (
            ("errG = criterion(output, ones)", "errG = -criterion(output, zeros)"),
            ("1e-3, 5e-4", "1e-3, 4e-3"),
        ),
    ),
    Case(
        GAN,
        "discriminator-in-eval-mode",
        ("eval-mode-training", "stale-normalization-statistics"),
        (),
        (
            ("        output = netD(fake)\n", "        netD.eval()\n        output = netD(fake)\n"),
            ("        output = netD(real)\n", "        netD.train()\n        output = netD(real)\n"),
        ),
    ),
    Case(
        GAN,
        "generator-in-eval-mode",
        ("eval-mode-training", "stale-normalization-statistics"),
        (),
        (("    order = torch.randperm", "    netG.eval()\n    order = torch.randperm"),),
    ),
    Case(
        GAN,
        "discriminator-never-steps",
        ("missing-optimizer-step", "params-not-in-optimizer", "frozen-parameters"),
        (),
        (("        optimizerD.step()\n", ""),),
    ),
    Case(WGAN, "no-constraint", (WRONG, WEIGHTS), (), (("2e-3, 2, 0.1", "2e-3, 2, 0.0"),)),
    Case(WGAN, "rate-too-high", (RATE,), (), (("128, 8, 2e-3", "128, 8, 0.1"),)),
    Case(
        WGAN,
        "sign-of-the-generator-loss",
        (WRONG,),
        (),
        (("g_loss = -discriminator", "g_loss = discriminator"),),
    ),
    Case(
        WGAN,
        "not-detached",
        ("missing-zero-grad", "detached-graph", WRONG),
        (),
        (
            (", generator(torch.randn(BATCH, NZ)).detach()", ", generator(torch.randn(BATCH, NZ))"),
            ("            optimizer_G.zero_grad()\n", ""),
            (
                "            optimizer_G.step()\n",
                "            optimizer_G.step()\n            optimizer_G.zero_grad()\n",
            ),
        ),
    ),
    Case(VAE, "beta-too-large", (WEIGHTS,), (COLLAPSES,), (("2e-3, 1.0", "2e-3, 30.0"),)),
    Case(
        VAE,
        "mean-and-sum",
        (WEIGHTS, WRONG),
        (COLLAPSES,),
        (
            ('reduction="sum")', 'reduction="mean")'),
            ("return bce / len(x), kld", "return bce, kld"),
        ),
    ),
    Case(VAE, "no-divergence", (WEIGHTS, WRONG), (), (("2e-3, 1.0", "2e-3, 0.0"),)),
    Case(VAE, "rate-too-high", (RATE,), (COLLAPSES,), (("8, 2e-3", "8, 0.3"),)),
    # preference tuning
    Case(DPO, "beta-too-small", (WEIGHTS, RATE), (UNLIKELY,), (("5e-5, 0.3", "5e-5, 0.002"),)),
    Case(DPO, "beta-too-large", (WEIGHTS, "learning-rate-too-low"), (), (("5e-5, 0.3", "5e-5, 100.0"),)),
    Case(
        DPO,
        "swapped",
        (WRONG, "misaligned-labels"),
        (),
        (
            (
                "F.logsigmoid(chosen_rewards - rejected_rewards)",
                "F.logsigmoid(rejected_rewards - chosen_rewards)",
            ),
        ),
    ),
    Case(
        DPO,
        "swapped-in-the-data",
        (WRONG, "misaligned-labels", "val-preprocessing-mismatch"),
        (),
        (
            (
                "train_set = pairs(2000)",
                "train_set = pairs(2000)\ntrain_set = train_set[0], train_set[2], train_set[1]",
            ),
        ),
    ),
    Case(
        DPO,
        "reference-is-the-policy",
        (WRONG, "detached-graph"),
        (),
        (("ref_model = copy.deepcopy(model).requires_grad_(False)", "ref_model = model"),),
    ),
    Case(DPO, "rate-too-high", (RATE,), (UNLIKELY,), (("5e-5, 0.3", "1e-2, 0.3"),)),
    Case(
        DPO,
        "not-shifted",
        ("misaligned-labels", WRONG),
        (),
        (
            (
                "    return logprobs(model, prompts, completions).sum(1)",
                "    ids = torch.cat([prompts, completions], 1)\n"
                "    every = F.log_softmax(model(ids), -1).gather(-1, ids[..., None]).squeeze(-1)\n"
                "    return every[:, prompts.shape[1]:].sum(1)",
            ),
        ),
    ),
    Case(
        DPO,
        "few-pairs",
        ("too-little-data", "insufficient-regularization"),
        ("validation-gap-grows", UNLIKELY),
        (
            ("train_set = pairs(2000)", "train_set = pairs(12)"),
            ("5e-5, 0.3", "5e-4, 0.1"),
        ),
    ),
    Case(GRPO, "kl-runaway", (RATE, WEIGHTS), (), (("8, 8, 1e-4, 0.04", "8, 8, 5e-3, 0.0"),)),
    Case(
        GRPO,
        "reward-by-length",
        (WRONG,),
        (),
        (
            (
                "return (completions[:, :PROMPT + 1] == wanted).float().mean(1)",
                "return (completions < 10).float().mean(1)",
            ),
        ),
    ),
    Case(
        GRPO,
        "sign-of-the-advantage",
        (WRONG,),
        (),
        (
            (
                "-(torch.exp(logps - logps.detach()) * advantages[:, None] - BETA * per_token_kl)",
                "torch.exp(logps - logps.detach()) * advantages[:, None] + BETA * per_token_kl",
            ),
        ),
    ),
    Case(
        GRPO,
        "beta-too-large",
        (WEIGHTS, "learning-rate-too-low"),
        (),
        (("8, 8, 1e-4, 0.04", "8, 8, 1e-4, 100.0"),),
    ),
    Case(
        GRPO,
        "reward-never-given",
        (WRONG, "misaligned-labels"),
        (),
        (
            (
                "completions[:, :PROMPT + 1] == wanted).float().mean(1)",
                "completions[:, :PROMPT + 1] == wanted + 20).float().mean(1)",
            ),
        ),
    ),
)
