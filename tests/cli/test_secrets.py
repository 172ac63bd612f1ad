"""No password, key or token that a command holds or a script prints is in anything that is stored or shown."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from tests.cli.process import Done, traindx

pytest.importorskip("torch")

API, PASSWORD, HEADER, HOSTED = (
    "sk-proj-Ab3dEf6hIj9kLm2nOp5q",
    "hunter2-swordfish",
    "b3arerT0kenValue77",
    "pa55-in-a-url",
)
HUB, FACT = "hf_QwErTyUiOpAsDfGhJkLzXcVbNm", "0123456789abcdef0123456789abcdef76543210"
SECRETS = (API, PASSWORD, HEADER, HOSTED, HUB, FACT)
WORDS = (
    "--api-key", API, f"--password={PASSWORD}", "--header", f"Authorization: Bearer {HEADER}",
    "--database", f"postgresql://me:{HOSTED}@db.example/runs", "--tokenizer", "bert-base", "--max-tokens", "512",
)  # fmt: skip

TRAIN = f"""
import argparse, os, sys, torch
options = argparse.ArgumentParser()
for name in ("--api-key", "--password", "--header", "--database", "--tokenizer", "--max-tokens"):
    options.add_argument(name)
options.add_argument("--lr", type=float, default=0.1)
given = options.parse_args()
assert given.api_key == "{API}" and given.password == "{PASSWORD}"  # the script itself has the true words
print(given)
print("login with {HUB}", flush=True)
print("argv:", sys.argv, file=sys.stderr)
torch.manual_seed(3)
centres = torch.tensor([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])
y = torch.randint(0, 3, (512,))
x = centres[y] + 1.2 * torch.randn(512, 2)
model = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=given.lr)
for epoch in range(12):
    for rows in torch.randperm(384).split(16):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        held = torch.nn.functional.cross_entropy(model(x[384:]), y[384:])
    print(f"epoch {{epoch}} loss {{loss.item():.4f}} val_loss {{held.item():.4f}} WANDB_API_KEY={FACT}")
if "ends badly" in os.environ.get("HOW", ""):
    raise SystemExit("no answer from https://me:{HOSTED}@host/x")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(TRAIN)
    return folder


def leaks(*places: Path, text: str = "", but: tuple[str, ...] = ()) -> list[str]:
    """The secrets in a text and in the files below places, but for files of some names."""
    found = [secret for secret in SECRETS if secret in text]
    for file in [file for place in places for file in ([place] if place.is_file() else place.rglob("*"))]:
        if file.is_file() and file.name not in but:
            data = file.read_bytes()
            found += [f"{file}: {secret}" for secret in SECRETS if secret.encode() in data]
    return found


def mode(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


def start(project: Path, *words: str, **given: str) -> Done:
    return traindx(
        *words, "--", sys.executable, "train.py", *WORDS, cwd=project, env={"PYTHONWARNINGS": "", **given}
    )


def test_a_record_and_its_reports_hold_no_secret(project: Path) -> None:
    done = start(project, "run", HOW="ends badly")
    (record,) = (project / "traindx-runs").glob("train-*")
    assert (mode(project / "traindx-runs"), mode(record)) == (0o700, 0o700)
    assert leaks(record, text=done.out.rpartition(FACT)[2]) == []  # after what the script prints itself
    script = json.loads((record / "setup.json").read_text())["script"]
    begin = "--api-key *** --password=*** --header Authorization: *** --database postgresql://me:***@db.example/runs "
    assert script["argv"].startswith(begin)
    assert script["argv"].endswith("--tokenizer bert-base --max-tokens 512")
    printed = (record / "stdout.log").read_text()
    assert "tokenizer='bert-base'" in printed
    assert "login with ***\n" in printed
    assert len(printed.splitlines()) == 14
    for form in ("text", "json", "html", "markdown"):
        shown = traindx("diagnose", record, "-f", form, "-o", f"report.{form}", cwd=project)
        assert shown.status in (0, 1), shown.err
        assert leaks(project / f"report.{form}") == []


def test_folders_of_records_are_for_the_user_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine").chmod(0o755)
    for name in ("mine", "new/deep"):
        traindx(
            "run",
            "--out",
            name,
            "--",
            sys.executable,
            "-c",
            "print(1)",
            cwd=tmp_path,
            env={"PYTHONWARNINGS": ""},
        )
        assert (tmp_path / name / "stdout.log").read_text() == "1\n"
    assert [mode(tmp_path / name) for name in ("mine", "new", "new/deep")] == [0o755, 0o700, 0o700]


@pytest.mark.slow
def test_a_check_shows_no_secret(project: Path) -> None:
    done = start(project, "check", "--budget", "60", "--out", "kept", "-f", "json", "-o", "check.json")
    assert done.status in (0, 1), done.err
    assert leaks(project / "kept", project / "check.json") == []
    assert mode(project / "kept") == 0o700
    assert "--api-key" in json.loads((project / "check.json").read_text())["command"]


@pytest.mark.slow
def test_a_search_of_rates_shows_no_secret(project: Path) -> None:
    done = start(project, "find-lr", "--steps", "60", "--seeds", "0", "-f", "json", "-o", "rates.json")
    assert done.status == 0, done.err
    assert leaks(project / "rates.json") == []
    assert "--api-key" in json.loads((project / "rates.json").read_text())["command"]


@pytest.mark.slow
def test_a_proof_holds_no_secret_and_goes_on_where_it_was(project: Path) -> None:
    (project / "train.py").write_text(TRAIN.replace("default=0.1", "default=40.0"))
    here = {"TRAINDX_KB": str(project.parent / "kb.sqlite")}
    done = start(project, "fix", "--budget", "60s", "--out", "proof", **here)
    assert done.status in (0, 1), done.err
    texts = ("train.py", "fix.patch")  # the user's source, which holds two of them itself
    assert leaks(project / "proof", project.parent / "kb.sqlite", but=texts) == []
    first = json.loads((project / "proof" / "trials.jsonl").read_text().splitlines()[0])
    assert first["command"][2:4] == ["--api-key", "***"]
    assert mode(project / "proof") == 0o700
    assert leaks(text=traindx("knowledge", "export", cwd=project, env=here).out) == []
