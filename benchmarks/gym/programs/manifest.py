"""The base programs: what their metric is worth, and where their rate, clearing and step stand."""

from __future__ import annotations

from benchmarks.gym.programs.program import Base

ZERO, STEP = "optimizer.zero_grad()", "optimizer.step()"
OPT_ZERO, OPT_STEP = "opt.zero_grad()", "opt.step()"

PROGRAMS: dict[str, Base] = {
    # classification
    "digits_mlp": Base("classes", 0.1, 1.0, "lr=0.1,", ZERO, STEP),
    "digits_cnn": Base("classes", 10, 100, "lr=2e-3,", "self.optim.zero_grad()", "self.optim.step()"),
    "shapes_cnn": Base("classes", 0.25, 1.0, "default=0.1)", "opt.zero_grad(set_to_none=True)", OPT_STEP),
    "wine_numpy_batches": Base("classes", 0.4, 1.0, "lr=0.05)", "sgd.zero_grad()", "sgd.step()"),
    "cancer_early_stop": Base("binary", 0.63, 1.0, "lr=1e-3,", ZERO, STEP),
    "digits_resnet": Base("classes", 0.1, 1.0, "MAX_LR = 64, 7, 0.01", OPT_ZERO, OPT_STEP),
    "gratings_vit": Base("classes", 1 / 6, 1.0, "lr=2e-3,", OPT_ZERO, OPT_STEP, pattern="warmup-phase"),
    "fraud_weighted": Base("binary", 0.08, 0.95, "lr=0.002)", ZERO, STEP),
    "moons_raw_tensors": Base("binary", 0.5, 1.0, "lr = 0.5", "w.grad = None"),
    "iris_kfold": Base("classes", 1 / 3, 1.0, "lr=0.01)", OPT_ZERO, OPT_STEP),
    "margin_lbfgs": Base("classes", 0.2, 1.0, "lr=0.8,", "solver.zero_grad()"),
    "sweep_configs": Base("classes", 0.4, 1.0, "", ZERO, STEP),
    "swa_cyclic": Base("classes", 0.25, 0.95, "", OPT_ZERO, OPT_STEP),
    "bf16_autocast": Base("classes", 1 / 3, 1.0, "default=1e-3)", OPT_ZERO, OPT_STEP),
    "resume_training": Base("classes", 0.1, 1.0, "lr=3e-3)", ZERO, STEP),
    "multilabel_tags": Base("multilabel", 0.5, 0.9, "lr=1e-3,", ZERO, STEP),
    "multitask_heads": Base("classes", 0.1, 1.0, "lr=2e-3)", OPT_ZERO, OPT_STEP),
    "ordinal_coral": Base("ordinal", 1.1, 0.6, "lr=5e-3,", ZERO, STEP),
    # regression
    "diabetes_regressor": Base("regression", 0.0, 0.45, "lr=0.01,", ZERO, STEP),
    "friedman_ensemble": Base("regression", 5.0, 0.5, "lr=3e-3)", ZERO, STEP),
    "quality_as_number": Base("regression", 1.0, 0.3, "lr=1e-3)", "adam.zero_grad()", "adam.step()"),
    "heteroscedastic": Base("density", 0.55, -1.2, "lr=2e-3)", OPT_ZERO, OPT_STEP),
    "load_quantiles": Base("regression", 0.24, 0.04, "lr=1e-3)", "optim.zero_grad()", "optim.step()"),
    "housing_embeddings": Base("regression", 0.55, 0.12, "lr=5e-3,", ZERO, STEP),
    "deepsets_max": Base("regression", 0.0, 1.0, "lr=2e-3)", ZERO, STEP),
    "keypoints": Base("regression", 0.42, 0.06, "lr=1e-3)", ZERO, STEP),
    "oscillator_pinn": Base("physics", 1.0, 0.0, "lr=5e-3)", OPT_ZERO, OPT_STEP),
    "survival_cox": Base("survival", 0.5, 0.8, "lr=2e-3,", OPT_ZERO, OPT_STEP),
    "mixture_density": Base("density", 0.69, -0.8, "lr=0.005)", ZERO, STEP),
    "lora_adapter": Base("regression", 0.6, 0.0, "", ZERO, STEP),
    # recommending, words, sequences
    "movie_factors": Base("regression", 1.0, 0.33, "lr=0.01,", ZERO, STEP),
    "implicit_ncf": Base("ranking", 0.2, 0.8, "lr=5e-3,", OPT_ZERO, OPT_STEP),
    "stream_clicks": Base("binary", 0.69, 0.4, "lr=0.1)", ZERO, STEP),
    "skipgram": Base("words", 0.2, 1.0, "lr=0.01)", ZERO, STEP),
    "pos_tagger": Base("tagging", 0.4, 1.0, "lr=0.005)", ZERO, STEP),
    "reverse_seq2seq": Base("seq2seq", 0.0, 1.0, "lr=4e-3)", OPT_ZERO, OPT_STEP),
    "copy_transformer": Base("seq2seq", 0.2, 1.0, "lr=2e-3)", ZERO, STEP),
    "char_gru": Base("lm", 14.0, 2.1, "lr=5e-3)", ZERO, STEP),
    "word_transformer": Base("lm", 15.0, 1.9, "lr=3e-3,", ZERO, STEP),
    "tiny_gpt": Base("lm", 2.3, 1.0, "warmup_iters = 4e-3", "optimizer.zero_grad(set_to_none=True)", STEP),
    "masked_lm": Base("lm", 1 / 30, 1.0, "4e-3, total_steps", ZERO, STEP, pattern="s-curve"),
    "review_bag": Base("classes", 0.5, 1.0, "lr=2.0)", ZERO, STEP),
    "topic_textcnn": Base("classes", 0.2, 1.0, "lr=3e-3)", "adam.zero_grad()", "adam.step()"),
    "adding_lstm": Base("regression", 0.167, 0.002, "lr=0.01)", OPT_ZERO, OPT_STEP, pattern="s-curve"),
    # pictures, signals, series
    "blob_unet": Base("segment", 0.15, 0.9, "lr=3e-3)", ZERO, STEP),
    "denoiser": Base("denoise", 9.1, 16.0, "lr=1e-3)", OPT_ZERO, OPT_STEP),
    "ecg_conv1d": Base("classes", 1 / 3, 1.0, "lr=1e-3)", ZERO, STEP),
    "forecast_lstm": Base("series", 1.0, 0.1, "lr=0.01)", ZERO, STEP),
    "forecast_nlinear": Base("series", 0.9, 0.18, "lr=1e-3,", ZERO, STEP),
    "machine_anomaly": Base("anomaly", 0.5, 1.0, "lr=2e-3)", OPT_ZERO, OPT_STEP),
    # generating, embedding
    "digits_autoencoder": Base("autoencoder", 0.0, 0.75, "lr=3e-3)", ZERO, STEP),
    "digits_vae": Base("autoencoder", 33.0, 19.5, "lr=2e-3)", ZERO, STEP),
    "ring_gan": Base(
        "gan", 0.0, 0.95, "", "opt_d.zero_grad()", "opt_d.step()", pattern="adversarial-balance"
    ),
    "moons_diffusion": Base("diffusion", 0.5, 0.05, "lr=2e-3)", ZERO, STEP),
    "realnvp_flow": Base("density", 1.8, -0.16, "lr=2e-3)", OPT_ZERO, OPT_STEP),
    "simclr_digits": Base("contrastive", 0.1, 1.0, "lr=2e-3)", ZERO, STEP),
    "triplet_digits": Base("contrastive", 0.1, 1.0, "lr=1e-3)", OPT_ZERO, OPT_STEP),
    "siamese_pairs": Base("contrastive", 0.5, 1.0, "lr=1e-3)", ZERO, STEP),
    "two_towers_clip": Base("contrastive", 0.025, 1.0, "lr=3e-3,", ZERO, STEP),
    # reinforcement, graphs
    "reinforce_corridor": Base("policy", -35.0, 2.0, "lr=1e-2)", ZERO, STEP),
    "dqn_gridworld": Base("policy", 0.1, 1.0, "lr=2e-3)", ZERO, STEP),
    "pole_actor_critic": Base("policy", 20.0, 200.0, "lr=5e-3)", ZERO, STEP),
    "gcn_communities": Base("graph", 0.25, 1.0, "lr=0.01,", ZERO, STEP),
    "molecule_gin": Base("graph", 0.5, 1.0, "lr=5e-3)", OPT_ZERO, OPT_STEP),
    # in two stages, or with rounded weights
    "finetune_frozen": Base("classes", 0.2, 1.0, "", OPT_ZERO, OPT_STEP),
    "distill_student": Base("classes", 0.1, 1.0, "lr=3e-3)", "opt_s.zero_grad()", "opt_s.step()"),
    "qat_8bit": Base("classes", 0.1, 1.0, "lr=0.1,", OPT_ZERO, OPT_STEP),
    "qat_4bit_lsq": Base("classes", 0.1, 1.0, "lr=0.05,", OPT_ZERO, OPT_STEP),
    "qat_2bit": Base("binary", 0.5, 1.0, "lr=2e-3)", OPT_ZERO, OPT_STEP),
    "ternary_weights": Base("classes", 0.1, 1.0, "lr=1e-3)", ZERO, STEP),
    "binary_ste": Base("binary", 0.63, 1.0, "lr=3e-3)", ZERO, STEP),
    # by other loops
    "lightning_wine": Base("classes", 0.4, 1.0, "lr=5e-3)", needs=("lightning",)),
    "hf_trainer_text": Base("classes", 0.5, 1.0, "learning_rate=1e-3", needs=("transformers", "accelerate")),
    "keras_digits": Base("classes", 0.1, 1.0, "Adam(2e-3)", needs=("keras",)),
}
