"""Prints of language-model trainers: Megatron, fairseq, Hugging Face."""

from __future__ import annotations

import json
import math

from text_training import Printer, train

ARGS = (
    ("adam_beta1", "0.9"),
    ("clip_grad", "1.0"),
    ("eval_interval", "100"),
    ("fp16", "True"),
    ("global_batch_size", "32"),
    ("lr", "0.5"),
    ("lr_decay_style", "linear"),
    ("num_classes", "1000"),
    ("optimizer", "sgd"),
    ("seed", "1234"),
    ("train_iters", "200"),
    ("weight_decay", "0.01"),
)


def megatron_lines(out: Printer, prefix: str, width: int = 0) -> None:
    """Skipped iterations have no loss and no gradient norm."""
    for m in train():
        it = m.step + 1
        skipped = it <= 4
        parts = [f" iteration {it:8d}/     200", f" consumed samples: {it * 32:12d}"]
        parts.append(
            f" elapsed time per iteration (ms): {out.n('elapsed_time_per_iteration', it, 100 + m.seconds * 1e3, '.1f')}"
        )
        parts.append(f" learning rate: {out.n('learning_rate', it, 0.0 if skipped else m.lr, '.3E')}")
        parts.append(f" global batch size: {out.n('global_batch_size', it, 32, '5.0f')}")
        if not skipped:
            parts.append(f" lm loss: {out.n('lm_loss', it, m.loss, '.6E')}")
        scale = 65536.0 if not skipped else 2.0 ** (20 - it)
        parts.append(f" loss scale: {out.n('loss_scale', it, scale, '.1f')}")
        if not skipped:
            parts.append(f" grad norm: {out.n('grad_norm', it, m.norm, '.3f')}")
        parts.append(
            f" number of skipped iterations: {out.n('number_of_skipped_iterations', it, float(skipped), '3.0f')}"
        )
        parts.append(f" number of nan iterations: {out.n('number_of_nan_iterations', it, 0, '3.0f')} |")
        text = prefix + " |".join(parts)
        out(text if not width else "\n".join(text[i : i + width] for i in range(0, len(text), width)))
        if it % 25 == 0:
            out("-" * 90)
            loss, ppl = (
                out.n("val/lm_loss", it, m.val_loss, ".6E"),
                out.n("val/lm_loss_PPL", it, math.exp(m.val_loss), ".6E"),
            )
            out(
                f"{prefix} validation loss at iteration {it} | lm loss value: {loss} | lm loss PPL: {ppl} | "
            )
            out("-" * 90)


def megatron(out: Printer) -> dict[str, object]:
    out("------------------------ arguments ------------------------")
    for name, value in ARGS:
        out(f"  {name} {'.' * (48 - len(name))} {value}")
    out("-------------------- end of arguments ---------------------")
    megatron_lines(out, "[default7]:")
    facts = {
        "lr": 0.5,
        "clip_norm": 1.0,
        "batch_size": 32,
        "optimizer": "sgd",
        "seed": 1234,
        "planned_steps": 200,
        "weight_decay": 0.01,
        "precision": "fp16",
        "schedule": "linear",
    }
    return {"facts": facts, "axis": "step", "framework": "megatron"}


def megatron_wrapped(out: Printer) -> dict[str, object]:
    megatron_lines(out, "", 118)
    return {"axis": "step"}


def fairseq_old(out: Printer) -> dict[str, object]:
    out(
        "Namespace(arch='transformer', lr=[0.5], max_epoch=4, max_tokens=4096, clip_norm=0.1, optimizer='sgd', seed=3)"
    )
    for m in train():
        at = m.step + 1
        if m.batch % 5 == 4:
            pairs = f"loss={out.n('loss', at, m.loss, '.3f')}, wps={out.n('wps', at, 53414, '.0f')}, num_updates={at}"
            rest = (
                f"lr={out.n('lr', at, m.lr, '.6g')}, gnorm={out.n('gnorm', at, m.norm, '.3f')}, wall={at},"
                f" train_wall={at}"
            )
            out(f"| epoch {m.epoch + 1:03d}:    {m.batch + 1:3d} / 25 {pairs}, {rest}")
        if m.step == 30:
            out("| WARNING: overflow detected, setting loss scale to: 64.0")
        if m.last:
            loss, best = out.n("valid_loss", at, m.val_loss, ".3f"), out.n("val/best", at, m.val_loss, ".2f")
            ppl = out.n("valid_ppl", at, 2**m.val_loss, ".2f")
            out(
                f"| epoch {m.epoch + 1:03d} | valid on 'valid' subset | valid_loss {loss} | valid_ppl "
                f"{ppl} | num_updates {at} | best {best}"
            )
            out(
                f"| saved checkpoint checkpoints/checkpoint{m.epoch + 1}.pt (epoch {m.epoch + 1} @ {at} "
                f"updates) (writing took 2.5 seconds)"
            )
    return {
        "axis": "step",
        "events": ["skipped-step"],
        "framework": "fairseq",
        "facts": {"planned_epochs": 4, "optimizer": "sgd", "seed": 3},
    }


def fairseq_json(out: Printer) -> dict[str, object]:
    """All values are strings in JSON after a logging prefix."""
    for m in train():
        at, stamp = m.step + 1, f"2026-01-05 10:{m.step // 60:02d}:{m.step % 60:02d}"
        if m.batch % 5 == 4:
            row = {
                "epoch": m.epoch + 1,
                "update": f"{at / 25:.3f}",
                "loss": out.n("loss", at, m.loss, ".3f"),
                "num_updates": str(at),
                "lr": out.n("lr", at, m.lr, ".6g"),
                "gnorm": out.n("gnorm", at, m.norm, ".3f"),
                "wall": str(at),
            }
            out.n("update", at, 0, text=f"{at / 25:.3f}")
            out(f"{stamp} | INFO | train_inner | {json.dumps(row)}")
        if m.last:
            row = {
                "epoch": m.epoch + 1,
                "valid_loss": out.n("valid_loss", at, m.val_loss, ".3f"),
                "valid_num_updates": str(at),
            }
            out(f"{stamp} | INFO | valid | {json.dumps(row)}")
    return {"axis": "step", "framework": "fairseq"}


def bar(done: int, of: int) -> str:
    full = "█" * (10 * done // of)
    return f"{100 * done // of:3d}%|{full:<10}| {done}/{of} [00:{done // 2:02d}<00:{(of - done) // 2:02d},  2.04it/s]"


def hf_console(out: Printer) -> dict[str, object]:
    """Dicts between progress bars, with evaluations, a nan and the summary at the end."""
    out("***** Running training *****")
    out("  Num examples = 800")
    out("  Num Epochs = 4")
    out("  Total train batch size (w. parallel, distributed & accumulation) = 32")
    out("  Total optimization steps = 100")
    for m in train():
        out(f"\r{bar(m.step + 1, 100)}", end="")
        if m.step % 5 == 4:
            at = (m.step + 1) / 25
            loss = out.n("loss", at, m.loss if m.step != 49 else math.nan, ".4f")
            row = (
                f"{{'loss': {loss}, 'grad_norm': {out.n('grad_norm', at, m.norm, '.16g')}, "
                f"'learning_rate': {out.n('learning_rate', at, m.lr, '.6g')}, 'epoch': {at}}}"
            )
            out(f"\r{' ' * 40}\r{row}")
        if m.last:
            at = float(m.epoch + 1)
            for k in (2, 4, 7):
                out(f"\r  {bar(k, 7)}", end="")
            row = (
                f"{{'eval_loss': {out.n('eval_loss', at, m.val_loss)}, 'eval_runtime': 0.1234, "
                f"'eval_samples_per_second': 1620.7, 'epoch': {at}}}"
            )
            out(f"\r{' ' * 40}\r{row}")
            out.n("eval_runtime", at, 0.1234), out.n("eval_samples_per_second", at, 1620.7, ".1f")
    out(
        "\n{'train_runtime': 12.3456, 'train_samples_per_second': 259.2, 'train_loss': 0.7312, 'epoch': 4.0}"
    )
    return {
        "axis": "epoch",
        "facts": {"planned_steps": 100, "planned_epochs": 4, "batch_size": 32, "dataset_size": 800},
    }


def hf_pasted(out: Printer) -> dict[str, object]:
    """Typographic quotes of a forum, values as strings in the style of newer versions."""
    for m in train():
        if m.step % 5 == 4:
            at = (m.step + 1) / 25
            loss, rate = out.n("loss", at, m.loss), out.n("learning_rate", at, m.lr, ".3e")
            out(f"{{‘loss’: ‘{loss}’, ‘learning_rate’: ‘{rate}’, ‘epoch’: ‘{at}’}}")
    return {"axis": "epoch"}


def hf_rounded(out: Printer) -> dict[str, object]:
    """Epochs rounded to two digits, so that many records share one: the record is the step."""
    for m in train(epochs=1, batches=120):
        out(
            f"{{'loss': {out.n('loss', m.step, m.loss)}, 'learning_rate': "
            f"{out.n('learning_rate', m.step, m.lr, '.4g')}, 'epoch': {m.step / 4000:.2f}}}"
        )
    return {"axis": "row"}


def tf_slim(out: Printer) -> dict[str, object]:
    for m in train():
        out(
            f"INFO:tensorflow:global step {m.step}: loss = {out.n('loss', m.step, m.loss)} "
            f"({out.n('sec/step', m.step, 0.1 + m.seconds, '.3f')} sec/step)"
        )
    return {"axis": "step"}


def dllogger(out: Printer) -> dict[str, object]:
    out("DLL 2026-01-05 08:53:10.435230 - PARAMETER seed : 42 ")
    for m in train():
        if m.step % 2 == 0:
            at = m.step
            pairs = (
                f"average_loss : {out.n('average_loss', at, m.loss, '.6f')}  step_loss : "
                f"{out.n('step_loss', at, m.loss, '.6f')}"
            )
            head = (
                f"DLL 2026-01-05 08:{m.step // 60:02d}:{m.step % 60:02d}.{m.step:06d} - Training Epoch: 0 "
                f"Training Iteration: {at}"
            )
            out(f"{head}  {pairs}  learning_rate : {out.n('learning_rate', at, m.lr, '.5f')} ")
    return {"axis": "step", "facts": {"seed": 42}}


STYLES = {
    "megatron": megatron,
    "megatron_wrapped": megatron_wrapped,
    "fairseq_old": fairseq_old,
    "fairseq_json": fairseq_json,
    "hf_console": hf_console,
    "hf_pasted": hf_pasted,
    "hf_rounded": hf_rounded,
    "tf_slim": tf_slim,
    "dllogger": dllogger,
}
