"""The callbacks of Lightning and Hugging Face: real fits, real checkpoints, a real resume."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

import traindx  # noqa: E402


def data() -> TensorDataset:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(256, 8, generator=generator)
    return TensorDataset(x, (x[:, 0] > 0).long())


def net() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))


def broken(model: nn.Module) -> nn.Module:
    """From now on the loss is not a number."""
    with torch.no_grad():
        model[0].weight[0, 0] = float("nan")
    return model


class TestLightning:
    def fit(
        self, callbacks: list[Any], epochs: int, folder: Path, resume: str | None = None, nan: bool = False,
        breaks_at: int = -1,
    ) -> Any:  # fmt: skip
        """`breaks_at`: the batch of the second epoch before which the weights are broken."""
        lightning = pytest.importorskip("lightning")

        class Module(lightning.LightningModule):  # type: ignore[name-defined,misc]
            def __init__(self) -> None:
                super().__init__()
                self.net = broken(net()) if nan else net()

            def training_step(self, batch: Any, number: int) -> Any:
                if self.current_epoch == 1 and number == breaks_at:
                    broken(self.net)
                return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

            def validation_step(self, batch: Any, _: int) -> None:
                self.log("val_loss", nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

            def configure_optimizers(self) -> Any:
                return torch.optim.Adam(self.parameters(), lr=1e-2)

        logger = lightning.pytorch.loggers.CSVLogger(str(folder))
        trainer = lightning.Trainer(
            max_epochs=epochs, accelerator="cpu", logger=logger, callbacks=callbacks, enable_progress_bar=False,
            enable_checkpointing=False, enable_model_summary=False, default_root_dir=str(folder),
            num_sanity_val_steps=0,
        )  # fmt: skip
        torch.manual_seed(2)
        module = Module()
        trainer.fit(module, DataLoader(data(), 32, shuffle=True), DataLoader(data(), 64), ckpt_path=resume)
        return trainer, module

    def test_weights_are_what_they_are_without_it(self, tmp_path: Path) -> None:
        pytest.importorskip("lightning")
        from traindx.lightning import Watch

        _, plain = self.fit([], 3, tmp_path / "plain")
        _, watched = self.fit([Watch(tmp_path / "run")], 3, tmp_path / "watched")
        assert all(torch.equal(a, b) for a, b in zip(plain.parameters(), watched.parameters(), strict=True))
        run = traindx.read(tmp_path / "run")
        assert run.last_step == 24
        assert len(run.series["train/loss"]) == 24
        assert len(run.series["val/loss"]) == 3

    def test_stops_and_reports_once_over_a_resume(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pytest.importorskip("lightning")
        from traindx.lightning import Watch

        watch = Watch(tmp_path / "run", check_every=4, stop=True)
        trainer, _ = self.fit([watch], 5, tmp_path / "first", nan=True)
        assert trainer.global_step < 40
        assert "loss-not-finite" in str(watch.state_dict())
        logged = "".join(path.read_text() for path in (tmp_path / "first").rglob("metrics.csv"))
        assert "traindx/loss-not-finite" in logged
        trainer.save_checkpoint(tmp_path / "saved.ckpt")
        again = Watch(tmp_path / "second", check_every=4)
        self.fit([again], 6, tmp_path / "resumed", resume=str(tmp_path / "saved.ckpt"), nan=True)
        logged = "".join(path.read_text() for path in (tmp_path / "resumed").rglob("metrics.csv"))
        assert "loss-not-finite" in str(again.state_dict())
        assert "traindx/loss-not-finite" not in logged

    def test_a_fault_midway_is_reported_once_and_ends_the_fit(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Broken at step 11; the checks are at 4, 8, 12."""
        pytest.importorskip("lightning")
        from traindx.lightning import Watch

        caplog.set_level("INFO")
        trainer, _ = self.fit(
            [Watch(tmp_path / "run", check_every=4, stop=True)], 5, tmp_path / "out", breaks_at=2
        )
        assert trainer.global_step == 12
        assert caplog.text.count("train/loss is NaN") == 1

    def test_a_healthy_fit_is_silent(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        pytest.importorskip("lightning")
        from traindx.lightning import Watch

        caplog.set_level("INFO")
        trainer, _ = self.fit([Watch(tmp_path / "run", check_every=4, stop=True)], 5, tmp_path / "out")
        assert trainer.global_step == 40
        assert "traindx: " not in caplog.text


class Named(torch.utils.data.Dataset):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 256

    def __getitem__(self, place: int) -> dict[str, Any]:
        x, y = data()[place]
        return {"x": x, "labels": y}


class Model(nn.Module):
    def __init__(self, nan: bool, breaks_at: int) -> None:
        super().__init__()
        self.net = broken(net()) if nan else net()
        self.passes, self.breaks_at = 0, breaks_at

    def forward(self, x: Any, labels: Any = None) -> dict[str, Any]:
        self.passes += self.training
        if self.passes == self.breaks_at:
            broken(self.net)
        logits = self.net(x)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


class TestHuggingFace:
    def train(
        self, callbacks: list[Any], epochs: int, folder: Path, resume: bool = False, nan: bool = False,
        breaks_at: int = -1,
    ) -> Any:  # fmt: skip
        transformers = pytest.importorskip("transformers")
        pytest.importorskip("accelerate")
        given = transformers.TrainingArguments(
            str(folder), num_train_epochs=epochs, per_device_train_batch_size=32, report_to=[], disable_tqdm=True,
            use_cpu=True, logging_steps=4, save_strategy="steps", save_steps=8, eval_strategy="epoch", seed=3,
            logging_nan_inf_filter=False, restore_callback_states_from_checkpoint=True,
        )  # fmt: skip
        model = Model(nan, breaks_at)
        trainer = transformers.Trainer(
            model, given, train_dataset=Named(), eval_dataset=Named(), callbacks=callbacks
        )
        trainer.train(resume_from_checkpoint=resume)
        return trainer, model

    def test_weights_are_what_they_are_without_it(self, tmp_path: Path) -> None:
        pytest.importorskip("transformers")
        from traindx.hf import Watch

        _, plain = self.train([], 2, tmp_path / "plain")
        _, watched = self.train([Watch(tmp_path / "run")], 2, tmp_path / "watched")
        assert all(torch.equal(a, b) for a, b in zip(plain.parameters(), watched.parameters(), strict=True))
        run = traindx.read(tmp_path / "run")
        assert run.last_step == 16
        assert len(run.series["train/loss"]) >= 3
        assert len(run.series["val/loss"]) == 2

    def test_stops_on_request(self, tmp_path: Path) -> None:
        pytest.importorskip("transformers")
        from traindx.hf import Watch

        watch = Watch(tmp_path / "run", check_every=4, stop=True)
        trainer, _ = self.train([watch], 4, tmp_path / "saved", nan=True)
        assert trainer.state.global_step < 32
        assert self.said(trainer).count("traindx/loss-not-finite") == 1

    @pytest.mark.parametrize(("breaks_at", "last", "times"), [(11, 16, 1), (-1, 32, 0)])
    def test_a_fault_midway_is_reported_once_and_ends_the_training(
        self, tmp_path: Path, breaks_at: int, last: int, times: int
    ) -> None:
        pytest.importorskip("transformers")
        from traindx.hf import Watch

        watch = Watch(tmp_path / "run", check_every=4, stop=True)
        trainer, _ = self.train([watch], 4, tmp_path / "saved", breaks_at=breaks_at)
        assert trainer.state.global_step == last
        assert self.said(trainer).count("traindx/loss-not-finite") == times
        # Healthy, but this trainer evaluates on its training data, which may be reported.
        assert times or set(self.said(trainer)) <= {"traindx/train-and-validation-overlap"}

    def test_reports_once_over_a_resume(self, tmp_path: Path) -> None:
        pytest.importorskip("transformers")
        from traindx.hf import Watch

        self.train([Watch(tmp_path / "first", check_every=4)], 2, tmp_path / "saved", nan=True)
        second = Watch(tmp_path / "second", check_every=4)
        trainer, _ = self.train([second], 3, tmp_path / "saved", resume=True, nan=True)
        assert trainer.state.global_step == 24
        assert self.said(trainer).count("traindx/loss-not-finite") == 1  # in the log that was resumed
        (there,) = (c for c in trainer.callback_handler.callbacks if isinstance(c, Watch))
        assert "loss-not-finite" in str(there.episodes)
        assert traindx.read(there.out).last_step == 8  # of its own

    @staticmethod
    def said(trainer: Any) -> list[str]:
        return [name for row in trainer.state.log_history for name in row if name.startswith("traindx/")]
