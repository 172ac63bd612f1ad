"""Plain prints: what people write in a loop of their own."""

from __future__ import annotations

import math

from text_training import Printer, train

LISTING = '''"""A script that prints itself into its log."""
import os, time
import torch

class Args:
    lr = float(os.environ.get("LR", 0.02))
    iterations = int(os.environ.get("ITERATIONS", 100))
    seed = 1337

def evaluate(model):
    val_loss = 0.0
    loss = None
    for step in range(10):
        loss = model(step)
        val_loss += loss
    return val_loss / 10

def main():
    step = 0
    training_time_ms = 0.0
    while True:
        if step % 25 == 0:
            log0(f"step:{step}/{args.iterations} val_loss:{val_loss:.4f} train_time:{training_time_ms:.0f}ms")
        log0(f"step:{step}/{args.iterations} train_loss:{loss.item():.4f}")
        step += 1
'''
NVIDIA = """====================================================================================================
Running Python 3.11.9, torch 2.4.0
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
|   0  Some GPU 80GB                  On  | 00000000:1A:00.0 Off |                    0 |
| N/A   34C    P0             117W / 700W |   1505MiB / 81559MiB |      0%      Default |
|   1  Some GPU 80GB                  On  | 00000000:1B:00.0 Off |                    0 |
| N/A   33C    P0             115W / 700W |   1505MiB / 81559MiB |      0%      Default |
+-----------------------------------------+----------------------+----------------------+
====================================================================================================
"""


def nanogpt(out: Printer) -> dict[str, object]:
    out("tokens per iteration will be: 32,768")
    out("number of parameters: 10.65M")
    out("Overriding: learning_rate = 0.5")
    for m in train():
        if m.step % 25 == 0:
            a, b = out.n("train_loss", m.step, m.loss), out.n("val_loss", m.step, m.loss * 1.1)
            out(f"step {m.step}: train loss {a}, val loss {b}")
            out("saving checkpoint to out")
        if m.step % 5 == 0:
            loss, ms = out.n("loss", m.step, m.loss), out.n("time", m.step, m.seconds * 1e3, ".2f")
            out(
                f"iter {m.step}: loss {loss}, time {ms}ms, mfu {out.n('mfu', m.step, 7.5 if m.step else -100, '.2f')}%"
            )
    return {"facts": {"lr": 0.5, "parameters": 10.65e6}, "units": {"time": "ms", "mfu": "%"}, "axis": "step"}


def source_first(out: Printer) -> dict[str, object]:
    for line in (LISTING + NVIDIA).splitlines():
        out(line)
    for k in range(1, 21):
        out(f"warmup_step:{k}/20")
    clock = 0.0
    for m in train():
        clock += 142.0 + m.seconds
        if m.step % 25 == 0:
            at = f"step:{m.step}/400"
            out(
                f"{at} val_loss:{out.n('val_loss', m.step, m.loss * 1.05)} "
                f"train_time:{out.n('train_time', m.step, clock, '.0f')}ms"
            )
        out(
            f"step:{m.step}/400 train_loss:{out.n('train_loss', m.step, m.loss)} "
            f"train_time:{out.n('train_time', m.step, clock, '.0f')}ms"
        )
    out(f"stopping_early: wallclock_cap train_time:{clock:.0f}ms step:100/400")
    out("Serialized model: 67224983 bytes")
    out("final_int8_roundtrip val_loss:9.0727 val_bpb:1.2244 eval_time:1401ms")
    return {"facts": {"planned_steps": 400}, "events": ["stopped"], "axis": "step"}


def llm_c(out: Printer) -> dict[str, object]:
    for m in train():
        if m.step % 25 == 0:
            out(f"s:{m.step} tel:{out.n('tel', m.step, m.loss * 1.1, '.6f')}")
        out(
            f"s:{m.step} trl:{out.n('trl', m.step, m.loss, '.6f')} "
            f"lr:{out.n('lr', m.step, m.lr, '.6f')} norm:{out.n('norm', m.step, m.norm, '.2f')}"
        )
    return {"axis": "step"}


def epoch_prints(out: Printer) -> dict[str, object]:
    """Accuracy on every second epoch only, several blank-separated pairs, units glued."""
    for m in train(epochs=12):
        if m.last:
            e = m.epoch + 1
            line = (
                f"Epoch {e:02d} loss {out.n('loss', e, m.loss, '7.4f')} | train "
                f"{out.n('train_time', e, 2.1 + m.seconds, '.1f')}s"
            )
            if e % 2 == 0:
                line += f" | Acc {out.n('Acc', e, 100 * m.acc, '.2f')}% | infer {out.n('infer_time', e, 4.2, '.1f')}s"
            out(line)
    for t in (2, 5, 10, 20, 40):
        out(f"Euler T={t:3d} acc 98.{t:02d}00% | infer {t / 10:.1f}s")
    return {"units": {"Acc": "%", "train_time": "s"}, "axis": "epoch"}


def pytorch_tutorial(out: Printer) -> dict[str, object]:
    for m in train():
        if m.batch % 5 == 4:
            at = m.epoch * 25 + m.batch + 1
            out(f"Epoch [{m.epoch + 1}/4], Step [{m.batch + 1}/25], Loss: {out.n('Loss', at, m.loss)}")
    return {"facts": {"planned_epochs": 4, "planned_steps": 100}, "axis": "step"}


def pytorch_mnist(out: Printer) -> dict[str, object]:
    for m in train():
        seen = 32 * m.batch
        at = 800 * m.epoch + seen
        if m.batch % 5 == 0:
            percent = f"({100 * seen / 800:.0f}%)"
            out(
                f"Train Epoch: {m.epoch + 1} [{seen}/800 {percent}]\tLoss: {out.n('Loss', at, m.loss, '.6f')}"
            )
            before = at
        if m.last:
            right = round(m.val_acc * 200)
            out.n("val/Accuracy", before, right / 200, text=repr(right / 200))
            out()
            loss = out.n("val/Average_loss", before, m.val_loss)
            out(f"Test set: Average loss: {loss}, Accuracy: {right}/200 ({100 * right / 200:.0f}%)")
            out()
    return {"axis": "step"}


def transfer_tutorial(out: Printer) -> dict[str, object]:
    for m in train(epochs=8):
        if m.batch == 0:
            out(f"Epoch {m.epoch}/7")
            out("-" * 10)
        if m.last:
            e = m.epoch
            out(f"train Loss: {out.n('train_Loss', e, m.loss)} Acc: {out.n('Acc', e, m.acc)}")
            out(f"val Loss: {out.n('val_Loss', e, m.val_loss)} Acc: {out.n('val/Acc', e, m.val_acc)}")
            out()
    out("Training complete in 0m 3s")
    out("Best val Acc: 0.950000")
    return {"axis": "epoch"}


def bare_columns(out: Printer) -> dict[str, object]:
    for m in train():
        value = m.loss if m.step < 80 else math.nan
        out(f"{m.step * 10} {out.n('value', m.step * 10, value, '.5f')}")
    return {"axis": "step"}


def logging_lines(out: Printer) -> dict[str, object]:
    times = []
    for m in train():
        second = 3 * m.step
        at = f"2026-01-05 23:{50 + second // 60 if second < 600 else 59:02d}:{second % 60:02d},{m.step:03d}"
        if second >= 600:
            at = f"2026-01-06 00:{second // 60 - 10:02d}:{second % 60:02d},{m.step:03d}"
        times.append(second + m.step / 1000)
        out(
            f"{at} - trainer.loop - INFO - step {m.step} loss={out.n('loss', m.step, m.loss)} "
            f"lr={out.n('lr', m.step, m.lr, '.2e')}"
        )
        if m.step % 30 == 7:
            out(f"{at} - trainer.loop - WARNING - worker 3 is slow, pid 4711, port 29500")
    return {"axis": "step", "times": times}


def experiments(out: Printer) -> dict[str, object]:
    """Two experiments under headings, with a gap, Windows line ends and a byte order mark."""
    out("# Notes\r")
    for run, seed in enumerate((1, 2)):
        out(f"## Experiment {run + 1}: width {64 * (run + 1)}\r")
        out("```\r")
        out(f"Namespace(dataset='blobs', lr=0.5, batch_size=32, epochs=20, seed={seed})\r")
        for m in train(epochs=20, seed=seed):
            if m.last and not 8 < m.epoch < 12:
                out(
                    f"Epoch {m.epoch + 1:3d}/20 done | avg_loss {out.n('avg_loss', m.epoch + 1, m.loss)} in "
                    f"{out.n('duration', m.epoch + 1, 3.7, '.1f')}s\r"
                )
            elif m.last and m.epoch == 10:
                out("...\r")
        out("```\r")
    data = b"\xef\xbb\xbf" + "".join(out.lines).encode()
    facts = {"lr": 0.5, "batch_size": 32, "planned_epochs": 20, "seed": 1}
    return {"bytes": data, "facts": facts, "boundaries": 1, "axis": "epoch"}


def utf16(out: Printer) -> dict[str, object]:
    for m in train():
        out(f"step {m.step}: loss {out.n('loss', m.step, m.loss)}\r")
    return {"bytes": "".join(out.lines).encode("utf-16"), "axis": "step"}


def colours(out: Printer) -> dict[str, object]:
    for m in train():
        out(
            f"\x1b[32m[INFO]\x1b[0m step=\x1b[1m{m.step}\x1b[0m "
            f"loss=\x1b[31m{out.n('loss', m.step, m.loss)}\x1b[0m "
            f"speed={out.n('speed', m.step, 15200, '.1f', '15200.0')[:0]}15.2k"
        )
    return {"axis": "step"}


def crash(out: Printer) -> dict[str, object]:
    for m in train():
        if m.step == 60:
            break
        out(f"step {m.step} loss {out.n('loss', m.step, m.loss if m.step < 55 else math.nan)}")
    out("Traceback (most recent call last):")
    out('  File "/home/someone/train.py", line 320, in <module>')
    out("    loss = model(x)")
    out('  File "/home/someone/model.py", line 12, in forward')
    out("    return self.net(x)")
    out("RuntimeError: CUDA error: device-side assert triggered")
    return {"events": ["crash"], "axis": "step"}


def no_steps(out: Printer) -> dict[str, object]:
    for m in train():
        out(f"loss: {out.n('loss', m.step, m.loss)} acc: {out.n('acc', m.step, m.acc)}")
    return {"axis": "row"}


def tensors(out: Printer) -> dict[str, object]:
    for m in train():
        loss = out.n("loss", m.step, m.loss)
        out(f"iteration {m.step} loss: tensor({loss}, device='cuda:0', grad_fn=<NllLossBackward0>)")
    return {"axis": "step"}


STYLES = {
    "nanogpt": nanogpt,
    "source_first": source_first,
    "llm_c": llm_c,
    "epoch_prints": epoch_prints,
    "pytorch_tutorial": pytorch_tutorial,
    "pytorch_mnist": pytorch_mnist,
    "transfer_tutorial": transfer_tutorial,
    "bare_columns": bare_columns,
    "logging_lines": logging_lines,
    "experiments": experiments,
    "utf16": utf16,
    "colours": colours,
    "crash": crash,
    "no_steps": no_steps,
    "tensors": tensors,
}
