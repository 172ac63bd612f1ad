"""Stable-Baselines files against its own loader and what its logger was given."""

from __future__ import annotations

import pytest

from tests.readers.sources import LOGS, assert_values, memory, oracle, source
from traindx.errors import NotALog
from traindx.readers.formats import sb3

LOGGED = oracle("sb3")


def test_progress_is_what_the_logger_was_given() -> None:
    log = sb3.read(source(LOGS / "sb3" / "progress.csv"))[0]
    assert log.axis == "time/total_timesteps"
    for name in ("train/loss", "rollout/ep_rew_mean", "eval/mean_reward"):
        assert_values(log.columns[name], [row[name] for row in LOGGED["progress"] if name in row], rtol=1e-6)
        assert log.columns[name].rows.tolist() == [
            i for i, row in enumerate(LOGGED["progress"]) if name in row
        ]


def test_monitor_files_of_a_folder_are_put_in_order_as_their_own_loader_does() -> None:
    log = sb3.read_folder(LOGS / "sb3")[0]
    logged = LOGGED["monitor"]
    assert_values(log.columns["env_steps"], logged["steps"])
    assert_values(log.columns["r"], logged["r"])
    assert log.columns["episode"].values.tolist() == list(range(1, len(logged["r"]) + 1))
    assert log.facts == {"env_id": "CartPole-v1"}


def test_the_folder_has_three_logs() -> None:
    assert sb3.sniff_folder(LOGS / "sb3") > 0.5
    assert len(sb3.read_folder(LOGS / "sb3")) == 3


def test_one_monitor_file() -> None:
    log = sb3.read(memory('#{"t_start": 1.5, "env_id": "E"}\nr,l,t\n1.0,10,0.5\n-2.5,5,0.75\n'))[0]
    assert_values(log.columns["r"], [1.0, -2.5])
    assert_values(log.columns["env_steps"], [10, 15])
    assert log.axis == "episode"


def test_a_monitor_file_before_its_first_episode_is_refused() -> None:
    with pytest.raises(NotALog):
        sb3.read(memory('#{"t_start": 1.5, "env_id": "E"}\nr,l,t\n'))


def test_other_tables_are_not_claimed() -> None:
    assert sb3.sniff(source(LOGS / "keras" / "plain.csv")) == 0.0
    assert sb3.sniff_folder(LOGS / "keras") == 0.0
