"""Prints of image trainers: torchvision, Swin, Keras, MXNet, Lightning, insightface."""

from __future__ import annotations

from text_training import Printer, train


def metric_logger(out: Printer) -> dict[str, object]:
    """Value and running mean in brackets; a test pass whose last line is the result."""
    out("Namespace(batch_size=32, epochs=4, lr=0.5, model='resnet18', momentum=0.9, weight_decay=0.0001)")
    total, count = 0.0, 0
    for m in train():
        total, count = (m.loss, 1) if m.batch == 0 else (total + m.loss, count + 1)
        if m.batch % 5 == 0 or m.last:
            at = m.epoch * 25 + m.batch
            loss, mean = out.n("loss", at, m.loss), out.n("loss_running_mean", at, total / count)
            rest = (
                f"time: {out.n('time', at, 0.3 + m.seconds)}  data: {out.n('data', at, 0.001)}  max mem: "
                f"{out.n('max_mem', at, 8361, '.0f')}"
            )
            out(
                f"Epoch: [{m.epoch}]  [{m.batch:2d}/25]  eta: 0:00:{25 - m.batch:02d}  lr: "
                f"{out.n('lr', at, m.lr, '.6f')}  loss: {loss} ({mean})  {rest}"
            )
        if m.last:
            out(f"Epoch: [{m.epoch}] Total time: 0:00:07")
            out(f"Averaged stats: lr: {m.lr:.6f}  loss: 0.1234 (9.8765)")
            for k in range(0, 12, 3):
                loss, acc = f"{m.val_loss + 0.01 * (9 - k):.4f}", f"{100 * m.val_acc:.4f}"
                if k == 9:
                    out.n("val/loss", at, 0, text=loss), out.n("val/acc1", at, 0, text=acc)
                    (
                        out.n("val/loss_running_mean", at, 0, text=loss),
                        out.n("val/acc1_running_mean", at, 0, text=acc),
                    )
                out(f"Test:  [{k:2d}/12]  eta: 0:00:01  loss: {loss} ({loss})  acc1: {acc} ({acc})")
            out("Test: Total time: 0:00:01")
    return {
        "facts": {
            "batch_size": 32,
            "planned_epochs": 4,
            "lr": 0.5,
            "model": "resnet18",
            "weight_decay": 0.0001,
        },
        "axis": "step",
    }


def swin(out: Printer) -> dict[str, object]:
    for m in train():
        if m.batch % 5 == 0:
            at = m.epoch * 25 + m.batch
            loss, norm, mem = (
                out.n("loss", at, m.loss),
                out.n("grad_norm", at, m.norm),
                out.n("mem", at, 2345, ".0f"),
            )
            out.n("loss_running_mean", at, 0, text=loss)
            head = (
                f"[2026-01-05 10:{m.epoch:02d}:{m.batch:02d} swin_tiny] (main.py 231): INFO Train: "
                f"[{m.epoch}/4][{m.batch}/25]\teta 0:00:0{m.epoch}"
            )
            out(
                f"{head} lr {out.n('lr', at, m.lr, '.6f')}\t time 0.3512 (0.3512)\tloss {loss} "
                f"({loss})\tgrad_norm {norm} ({norm})\tmem {mem}MB"
            )
            out.n("time", at, 0.3512)
    return {"axis": "step", "facts": {"planned_epochs": 4}, "units": {"mem": "MB"}}


def caron(out: Printer) -> dict[str, object]:
    for m in train():
        if m.batch % 5 == 0:
            at = m.epoch * 25 + m.batch
            loss = out.n("Loss", at, m.loss)
            out.n("Loss_running_mean", at, 0, text=loss)
            pairs = (
                f"Time {out.n('Time', at, 2.331, '.3f')} (2.331)\tData {out.n('Data', at, 1.690, '.3f')} "
                f"(1.690)\tLoss {loss} ({loss})"
            )
            out(f"Epoch: [{m.epoch}][{m.batch}]\t{pairs}\tLr: {out.n('Lr', at, m.lr)}")
    return {"axis": "inner"}


def keras_bar(out: Printer) -> dict[str, object]:
    """Bars redrawn by carriage return and by backspaces; a callback's line glued to the last."""
    for m in train(epochs=6):
        e = m.epoch + 1
        if m.batch == 0:
            out(f"Epoch {e}/6")
        width = 30 * (m.batch + 1) // 25
        drawn = "=" * (width - 1) + ">" + "." * (30 - width)
        back = "\r" if m.epoch % 2 else "\x08" * 60
        if not m.last:
            out(
                f"{back}{m.batch + 1:2d}/25 [{drawn}] - ETA: 0s - loss: {m.loss + 1:.4f} - accuracy: {m.acc:.4f}",
                end="",
            )
            continue
        out(
            f"{back}25/25 [{'=' * 30}] - ETA: 0s - loss: {m.loss:.4f} - accuracy: {m.acc:.4f}Epoch "
            f"{e:05d}: val_loss did not improve from 0.1",
            end="",
        )
        figures = (
            f"loss: {out.n('loss', e, m.loss)} - accuracy: {out.n('accuracy', e, m.acc)} - val_loss: "
            f"{out.n('val_loss', e, m.val_loss)}"
        )
        speed = f"1s {out.n('ms/step', e, 3 + e, '.0f')}ms/step"
        out(
            f"{back}25/25 [{'=' * 30}] - {speed} - {figures} - val_accuracy: {out.n('val_accuracy', e, m.val_acc)}"
        )
    return {"axis": "epoch", "facts": {"planned_epochs": 6}}


def keras_three(out: Printer) -> dict[str, object]:
    for m in train(epochs=6):
        e = m.epoch + 1
        if m.batch == 0:
            out(f"Epoch {e}/6")
        if m.batch % 6 == 0 and not m.last:
            out(
                f"\r\x1b[1m{m.batch + 1}/25\x1b[0m "
                f"\x1b[32m{'━' * m.batch}\x1b[0m\x1b[37m{'━' * (20 - m.batch)}\x1b[0m \x1b[1m0s\x1b[0m "
                f"4ms/step - accuracy: {m.acc:.4f} - loss: {m.loss:.4f}",
                end="",
            )
        if m.last:
            figures = (
                f"accuracy: {out.n('accuracy', e, m.acc)} - loss: {out.n('loss', e, m.loss)} - val_loss: "
                f"{out.n('val_loss', e, m.val_loss)}"
            )
            out(
                f"\r\x1b[1m25/25\x1b[0m \x1b[32m{'━' * 20}\x1b[0m\x1b[37m\x1b[0m \x1b[1m1s\x1b[0m "
                f"{out.n('ms/step', e, 4, '.0f')}ms/step - {figures}"
            )
    return {"axis": "epoch", "facts": {"planned_epochs": 6}}


def keras_quiet(out: Printer) -> dict[str, object]:
    """verbose=2, the older and the newer form."""
    for m in train(epochs=8):
        if m.last:
            e = m.epoch + 1
            out(f"Epoch {e}/8")
            figures = (
                f"loss: {out.n('loss', e, m.loss)} - acc: {out.n('acc', e, m.acc)} - val_loss: "
                f"{out.n('val_loss', e, m.val_loss)}"
            )
            out(
                f" - 3s - {figures}"
                if m.epoch < 4
                else f"25/25 - 3s - {figures} - 3s/epoch - {out.n('ms/step', e, 3, '.0f')}ms/step"
            )
    return {"axis": "epoch", "facts": {"planned_epochs": 8}, "loose": ["s/epoch"]}


def lightning_bar(out: Printer) -> dict[str, object]:
    for m in train():
        at = m.step + 1
        shown = "#" * (10 * (m.batch + 1) // 25)
        figures = (
            f"loss={out.n('loss', at, m.loss, '.3g')}, v_num=0, "
            f"train/loss_step={out.n('train/loss_step', at, m.loss, '.3f')}"
        )
        rate = out.n("it/s", at, 25 + m.seconds, ".2f")
        out(
            f"\rEpoch {m.epoch}: {4 * (m.batch + 1):3d}%|{shown:<10}| {m.batch + 1}/25 [00:01<00:02, "
            f"{rate}it/s, {figures}]",
            end="",
        )
    out("")
    return {"axis": "step"}


def mxnet(out: Printer) -> dict[str, object]:
    for m in train():
        if m.batch % 5 == 0:
            at = m.epoch * 25 + m.batch
            speed, acc = (
                out.n("Speed", at, 165 + m.seconds, ".2f"),
                out.n("Train-Accuracy", at, m.acc, ".6f"),
            )
            out(
                f"2026-07-01 12:27:17,341 Epoch[{m.epoch}] Batch [{m.batch}]\tSpeed: {speed} "
                f"samples/sec\tTrain-Accuracy={acc}"
            )
        if m.last:
            out(f"2026-07-01 12:27:17,341 Epoch[{m.epoch}] Time cost=3.214")
            out(
                f"2026-07-01 12:27:17,341 Epoch[{m.epoch}] "
                f"Validation-Accuracy={out.n('Validation-Accuracy', at, m.val_acc, '.6f')}"
            )
    return {"axis": "inner", "units": {"Speed": "samples/sec"}, "framework": "mxnet", "loose": ["Time_cost"]}


def insightface(out: Printer) -> dict[str, object]:
    for m in train():
        at = m.step
        head = (
            f"Training: 2026-04-01 10:{m.step // 60:02d}:{m.step % 60:02d},123-Speed "
            f"{out.n('Speed', at, 800 + m.seconds, '.2f')} samples/sec"
        )
        rest = (
            f"LearningRate {out.n('LearningRate', at, m.lr)}   Epoch: {m.epoch}   Global Step: {at}   "
            f"Fp16 Grad Scale: {out.n('Fp16_Grad_Scale', at, 65536, '.0f')}"
        )
        out(f"{head}   Loss {out.n('Loss', at, m.loss)}   {rest}   Required: 10 hours")
    return {"axis": "step"}


STYLES = {
    "metric_logger": metric_logger,
    "swin": swin,
    "caron": caron,
    "keras_bar": keras_bar,
    "keras_three": keras_three,
    "keras_quiet": keras_quiet,
    "lightning_bar": lightning_bar,
    "mxnet": mxnet,
    "insightface": insightface,
}
