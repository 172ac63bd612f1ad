"""Train a small PPO and keep progress.csv, monitor files and evaluations.npz.

pip install torch stable-baselines3 gymnasium; python tests/logs/make/sb3_runs.py
"""

from __future__ import annotations

from places import fresh, oracle
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import CSVOutputFormat, KVWriter, Logger
from stable_baselines3.common.monitor import load_results
from stable_baselines3.common.results_plotter import ts2xy


class Recording(KVWriter):
    """What the logger was given at each dump."""

    def __init__(self) -> None:
        self.rows: list[dict[str, float]] = []

    def write(self, key_values, key_excluded, step=0):
        self.rows.append({k: float(v) for k, v in key_values.items()})

    def close(self) -> None:
        pass


folder = fresh("sb3")
recording = Recording()
env = make_vec_env("CartPole-v1", n_envs=2, seed=0, monitor_dir=str(folder))
model = PPO("MlpPolicy", env, n_steps=128, batch_size=64, n_epochs=2, seed=0, device="cpu")
model.set_logger(Logger(str(folder), [CSVOutputFormat(str(folder / "progress.csv")), recording]))
check = EvalCallback(
    make_vec_env("CartPole-v1", seed=1), eval_freq=256, n_eval_episodes=4, log_path=str(folder), verbose=0
)
model.learn(3000, callback=check)
env.close()
results = load_results(str(folder))
steps, rewards = ts2xy(results, "timesteps")
oracle(
    "sb3",
    {
        "progress": recording.rows,
        "monitor": {
            "steps": steps.tolist(),
            "r": rewards.tolist(),
            "t": results["t"].tolist(),
            "l": results["l"].tolist(),
        },
        "evaluations": {
            "timesteps": list(check.evaluations_timesteps),
            "results": [list(r) for r in check.evaluations_results],
            "ep_lengths": [list(map(float, e)) for e in check.evaluations_length],
        },
    },
)
