"""Logging styles: what a script prints or writes, in the manners that scripts do.

A style is a function of what is shown (`Shown`) and the recipe; numbers that the script computes anyhow are shown
as it would show them. Texts use the script's own names: epoch, step, i, loss, train_loss, val_loss, val_metric.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks.gym.recipe import Log, Recipe

RATE = 'optimizer.param_groups[0]["lr"]'


@dataclass(frozen=True)
class Shown:
    """What a log holds: validation, learning rate, gradient norm, time of a step; about how many lines of steps
    there are; decimals of the losses."""

    val: bool = True
    rate: bool = False
    norm: bool = False
    clock: bool = False
    lines: int = 100
    digits: int = 4

    @property
    def level(self) -> str:
        """The most that can be known from the log."""
        return "rich" if self.rate or self.norm else "loss+val" if self.val else "loss"


Style = Callable[[Shown, Recipe], Log]


def every(body: str) -> str:
    """`body` at every step that is shown."""
    return "if step % LOG_EVERY == 0:\n" + "\n".join(f"    {line}" for line in body.splitlines())


def extras(shown: Shown, rate: str, norm: str, clock: str = "") -> str:
    """The parts of a line for what else is shown."""
    return (rate if shown.rate else "") + (norm if shown.norm else "") + (clock if shown.clock else "")


def epoch_line(shown: Shown, recipe: Recipe) -> Log:
    """Epoch 3/20 | train loss 0.1234 | val loss 0.1300 | val accuracy 0.9600 | lr 1.00e-03"""
    d = shown.digits
    val = f" | val loss {{val_loss:.{d}f}}" if shown.val else ""
    metric = f" | val {recipe.metric} {{val_metric:.{d}f}}" if shown.val and recipe.metric else ""
    more = extras(shown, f" | lr {{{RATE}:.2e}}", " | grad norm {float(grad_norm):.3f}")
    line = f"Epoch {{epoch}}/{{EPOCHS}} | train loss {{train_loss:.{d}f}}{val}{metric}{more}"
    return Log(epoch=f"print(f'{line}')", norm=shown.norm, val=shown.val)


def official_example(shown: Shown, recipe: Recipe) -> Log:
    """Train Epoch: 1 [640/1097 (58%)]	Loss: 0.512300"""
    step = every('print("Train Epoch: {} [{}/{} ({:.0f}%)]\\tLoss: {:.6f}".format(epoch, i * BATCH, '
                 'len(train_loader.dataset), 100.0 * i / len(train_loader), loss.item()))')  # fmt: skip
    right = ", Accuracy: {int(val_metric * len(x_val))}/{len(x_val)} ({100.0 * val_metric:.0f}%)"
    right = right if recipe.kind in ("classes", "binary") else ""
    return Log(step=step, epoch=f'print(f"\\nTest set: Average loss: {{val_loss:.4f}}{right}\\n")', val=True)


def quickstart(shown: Shown, recipe: Recipe) -> Log:
    """loss: 2.301  [   64/ 1097] ... Test Error: Accuracy: 96.1%, Avg loss: 0.123"""
    step = every(
        'print(f"loss: {loss.item():>7f}  [{(i + 1) * len(x):>5d}/{len(train_loader.dataset):>5d}]")'
    )
    right = "Accuracy: {(100 * val_metric):>0.1f}%, " if recipe.metric == "accuracy" else ""
    return Log(
        step='if i == 0:\n    print(f"Epoch {epoch}\\n-------------------------------")\n' + step,
        epoch=f'print(f"Test Error: \\n {right}Avg loss: {{val_loss:>8f}} \\n")',
        end='print("Done!")',
    )


def cifar_tutorial(shown: Shown, recipe: Recipe) -> Log:
    """[1,    20] loss: 2.213, a mean over the last lines' steps"""
    line = "print(f'[{epoch}, {i + 1:5d}] loss: {recent / LOG_EVERY:.3f}')"
    step = f"recent += loss.item()\n{every(line)}\n    recent = 0.0"
    return Log(setup="recent = 0.0", step=step, end="print('Finished Training')", val=False)


def key_value(shown: Shown, recipe: Recipe) -> Log:
    """step=100 epoch=2 loss=1.2345 lr=0.001 grad_norm=0.42"""
    more = extras(shown, f" lr={{{RATE}:.6g}}", " grad_norm={float(grad_norm):.4f}",
                  " step_time={time.time() - tick:.4f} data_time={waited:.4f}")  # fmt: skip
    step = every(f"print(f'step={{step}} epoch={{epoch}} loss={{loss.item():.{shown.digits}f}}{more}')")
    metric = f" val_{recipe.metric}={{val_metric:.4f}}" if recipe.metric else ""
    epoch = f'print(f"step={{step}} val_loss={{val_loss:.{shown.digits}f}}{metric}")' if shown.val else ""
    return clocked(Log(step=step, epoch=epoch, norm=shown.norm, val=shown.val), shown)


def clocked(log: Log, shown: Shown) -> Log:
    """With `tick`, the time at which the last step ended, and `waited`, the seconds from there to the next batch,
    where steps are timed."""
    if not shown.clock:
        return log
    return replace(log, setup="tick = time.time()\n" + log.setup, batch="waited = time.time() - tick",
                   step=f"{log.step}\ntick = time.time()")  # fmt: skip


def json_lines(shown: Shown, recipe: Recipe) -> Log:
    """{"step": 10, "train_loss": 1.2, "lr": 0.001}, printed"""
    more = extras(
        shown,
        f', "lr": {RATE}',
        ', "grad_norm": float(grad_norm)',
        ', "step_time": time.time() - tick, "data_time": waited',
    )
    step = every(f'print(json.dumps({{"step": step, "epoch": epoch, "train_loss": loss.item(){more}}}))')
    metric = f', "val_{recipe.metric}": val_metric' if recipe.metric else ""
    epoch = (
        f'print(json.dumps({{"step": step, "epoch": epoch, "val_loss": val_loss{metric}}}))'
        if shown.val
        else ""
    )
    return clocked(Log(setup="import json\n", step=step, epoch=epoch, norm=shown.norm, val=shown.val), shown)


def json_file(shown: Shown, recipe: Recipe) -> Log:
    """One JSON object per epoch in metrics.jsonl"""
    parts = ['"epoch": epoch', '"loss": train_loss'] + ['"val_loss": val_loss'] * shown.val
    parts += [f'"val_{recipe.metric}": val_metric'] * (shown.val and bool(recipe.metric))
    parts += [f'"learning_rate": {RATE}'] * shown.rate + ['"grad_norm": float(grad_norm)'] * shown.norm
    row = "json.dumps({" + ", ".join(parts) + "})"
    write = f'with open("metrics.jsonl", "a") as handle:\n    handle.write({row} + "\\n")'
    return Log(setup="import json\n", epoch=write, file="metrics.jsonl", norm=shown.norm, val=shown.val)


def trainer_dicts(shown: Shown, recipe: Recipe) -> Log:
    """{'loss': 0.51, 'grad_norm': 0.42, 'learning_rate': 0.001, 'epoch': 0.5} and {'eval_loss': ...}"""
    more = extras(shown, f", 'learning_rate': {RATE}", ", 'grad_norm': float(grad_norm)")
    step = every(
        f"print({{'loss': round(loss.item(), 4){more}, 'epoch': round(step / len(train_loader), 2)}})"
    )
    metric = f", 'eval_{recipe.metric}': val_metric" if recipe.metric else ""
    epoch = f"print({{'eval_loss': val_loss{metric}, 'epoch': float(epoch)}})" if shown.val else ""
    end = "print({'train_runtime': time.time() - started, 'train_loss': train_loss, 'epoch': float(epoch)})"
    return Log(step=step, epoch=epoch, end=end, norm=shown.norm, val=shown.val)


def csv_file(shown: Shown, recipe: Recipe) -> Log:
    """epoch,train_loss,val_loss,... in log.csv"""
    names = ["epoch", "train_loss"] + ["val_loss"] * shown.val
    values = ["epoch", "train_loss"] + ["val_loss"] * shown.val
    if shown.val and recipe.metric:
        names, values = [*names, f"val_{recipe.metric}"], [*values, "val_metric"]
    names, values = names + ["lr"] * shown.rate, values + [RATE] * shown.rate
    names, values = names + ["grad_norm"] * shown.norm, values + ["float(grad_norm)"] * shown.norm
    setup = f'import csv\n\nwith open("log.csv", "w", newline="") as handle:\n    csv.writer(handle).writerow({names})'
    row = f'with open("log.csv", "a", newline="") as handle:\n    csv.writer(handle).writerow([{", ".join(values)}])'
    return Log(setup=setup, epoch=row, file="log.csv", norm=shown.norm, val=shown.val)


def csv_steps(shown: Shown, recipe: Recipe) -> Log:
    """step,loss,lr,grad_norm printed with commas, a header first; validation is not in it"""
    names = ["step", "loss"] + ["lr"] * shown.rate + ["grad_norm"] * shown.norm
    cells = ["{step}", f"{{loss.item():.{shown.digits}f}}"] + [f"{{{RATE}:.6g}}"] * shown.rate
    cells += ["{float(grad_norm):.4f}"] * shown.norm
    step = every(f"print(f'{','.join(cells)}')")
    return Log(setup=f'print("{",".join(names)}")', step=step, norm=shown.norm, val=False)


def bars(shown: Shown, recipe: Recipe) -> Log:
    """Epoch 1:  50%|#####     | 10/20 [00:01<00:01, 8.13it/s, loss=0.512], drawn over itself"""
    rate = extras(shown, f", lr={{{RATE}:.2e}}", "")
    body = "\n".join(
        [
            "done = int(10 * (i + 1) / len(train_loader))",
            "took = time.time() - epoch_started",
            "bar = '█' * done + ' ' * (10 - done)",
            "left = took * (len(train_loader) - i - 1) / (i + 1)",
            "print(f'\\rEpoch {epoch}/{EPOCHS}: {100 * (i + 1) // len(train_loader):3d}%|{bar}| {i + 1}/"
            "{len(train_loader)} [{int(took) // 60:02d}:{int(took) % 60:02d}<{int(left) // 60:02d}:"
            f"{{int(left) % 60:02d}}, {{(i + 1) / took:5.2f}}it/s, loss={{loss.item():.3g}}{rate}]', end='')",
        ]
    )
    metric = f", val_{recipe.metric}={{val_metric:.4f}}" if recipe.metric else ""
    epoch = "print()" + (f"\nprint(f'val_loss={{val_loss:.4f}}{metric}')" if shown.val else "")
    return Log(
        step="if epoch > 0:\n" + "\n".join(f"    {b}" for b in body.splitlines()), epoch=epoch, val=shown.val
    )


def keras_like(shown: Shown, recipe: Recipe) -> Log:
    """Epoch 1/20 and 18/18 [==============================] - 0s 5ms/step - loss: 0.51 - val_loss: 0.43"""
    metric = f" - val_{recipe.metric}: {{val_metric:.4f}}" if recipe.metric else ""
    val = f" - val_loss: {{val_loss:.4f}}{metric}" if shown.val else ""
    rate = f" - lr: {{{RATE}:.4e}}" if shown.rate else ""
    line = (
        "{len(train_loader)}/{len(train_loader)} [==============================] - {took:.0f}s "
        "{1000 * took / len(train_loader):.0f}ms/step - loss: {train_loss:.4f}" + val + rate
    )
    epoch = f"took = time.time() - epoch_started\nprint(f'Epoch {{epoch}}/{{EPOCHS}}')\nprint(f'{line}')"
    return Log(epoch=epoch, val=shown.val)


def logger_lines(shown: Shown, recipe: Recipe) -> Log:
    """2024-05-01 12:00:00,123 - INFO - Epoch [2][10/18]  lr: 1.0e-03, loss: 0.5123, grad_norm: 0.42"""
    setup = (
        "import logging\nimport sys\n\nlogging.basicConfig(stream=sys.stdout, level=logging.INFO,\n"
        '                    format="%(asctime)s - %(levelname)s - %(message)s")\nlogger = logging.getLogger("train")'
    )
    rate = f"lr: {{{RATE}:.3e}}, " if shown.rate else ""
    norm = ", grad_norm: {float(grad_norm):.4f}" if shown.norm else ""
    clock = ", time: {time.time() - tick:.4f}, data_time: {waited:.4f}" if shown.clock else ""
    step = every(f"logger.info(f'Epoch [{{epoch}}][{{i + 1}}/{{len(train_loader)}}]  {rate}"
                 f"loss: {{loss.item():.4f}}{norm}{clock}')")  # fmt: skip
    metric = f", {recipe.metric}: {{val_metric:.4f}}" if recipe.metric else ""
    epoch = f"logger.info(f'Epoch(val) [{{epoch}}]  loss: {{val_loss:.4f}}{metric}')" if shown.val else ""
    return clocked(Log(setup=setup, step=step, epoch=epoch, norm=shown.norm, val=shown.val), shown)


def iterations(shown: Shown, recipe: Recipe) -> Log:
    """iter 100: loss 2.3010, time 12.30ms; step 100: train loss 2.2000, val loss 2.3000"""
    more = extras(shown, f", lr {{{RATE}:.4e}}", ", norm {float(grad_norm):.4f}")
    step = every(
        f"print(f'iter {{step}}: loss {{loss.item():.4f}}, time {{1000 * (time.time() - tick):.2f}}ms{more}')"
    )
    step += "\ntick = time.time()"
    epoch = (
        "print(f'step {step}: train loss {train_loss:.4f}, val loss {val_loss:.4f}')" if shown.val else ""
    )
    return Log(setup="tick = time.time()", step=step, epoch=epoch, norm=shown.norm, val=shown.val)


def table(shown: Shown, recipe: Recipe) -> Log:
    """epoch     train_loss  valid_loss  accuracy  time, aligned, the header once"""
    names = (
        ["epoch", "train_loss"]
        + ["valid_loss"] * shown.val
        + [recipe.metric] * (shown.val and bool(recipe.metric))
    )
    cells = ["{epoch - 1:<9d}", "{train_loss:<11.6f}"] + ["{val_loss:<11.6f}"] * shown.val
    cells += ["{val_metric:<15.6f}"] * (shown.val and bool(recipe.metric)) + [
        "{took // 60:02d}:{took % 60:02d}"
    ]
    head = (
        "print('"
        + "".join(f"{n:<{w}s}" for n, w in zip([*names, "time"], (10, 12, 12, 16, 5), strict=False))
        + "')"
    )
    return Log(
        setup=head,
        epoch=f"took = int(time.time() - epoch_started)\nprint(f'{' '.join(cells)}')",
        val=shown.val,
    )


def blocks(shown: Shown, recipe: Recipe) -> Log:
    """Epoch 0/19, a rule, train Loss: 0.6934 and val Loss: 0.6500 Acc: 0.7000 on lines of their own"""
    right = " Acc: {val_metric:.4f}" if recipe.metric == "accuracy" else ""
    lines = [
        "print(f'Epoch {epoch - 1}/{EPOCHS - 1}')",
        "print('-' * 10)",
        "print(f'train Loss: {train_loss:.4f}')",
    ]
    lines += [f"print(f'val Loss: {{val_loss:.4f}}{right}')"] * shown.val + ["print()"]
    return Log(epoch="\n".join(lines), val=shown.val)


def bare(shown: Shown, recipe: Recipe) -> Log:
    """99 2.3010: the step and the loss, nothing else"""
    return Log(step=every("print(step, loss.item())"), val=False)


def own_words(shown: Shown, recipe: Recipe) -> Log:
    """Ep 3: tr_loss=0.12, te_loss=0.13, te_acc=96.0%"""
    d = shown.digits
    val = f", te_loss={{val_loss:.{d}f}}" if shown.val else ""
    metric = ", te_acc={100 * val_metric:.1f}%" if shown.val and recipe.metric == "accuracy" else ""
    more = extras(shown, f", lr={{{RATE}:.5f}}", ", gnorm={float(grad_norm):.2f}")
    return Log(epoch=f"print(f'Ep {{epoch}}: tr_loss={{train_loss:.{d}f}}{val}{metric}{more}')", norm=shown.norm,
               val=shown.val)  # fmt: skip


STYLES: dict[str, Style] = {
    f.__name__: f
    for f in (epoch_line, official_example, quickstart, cifar_tutorial, key_value, json_lines, json_file, trainer_dicts,
              csv_file, csv_steps, bars, keras_like, logger_lines, iterations, table, blocks, bare, own_words)
}  # fmt: skip
VALIDATED = {"official_example", "quickstart"}  # always show validation
UNVALIDATED = {"cifar_tutorial", "csv_steps", "bare"}  # never
TELL_RATE = {"epoch_line", "key_value", "json_lines", "json_file", "trainer_dicts", "csv_file", "csv_steps", "bars",
             "keras_like", "logger_lines", "iterations", "own_words"}  # fmt: skip
TELL_NORM = TELL_RATE - {"bars", "keras_like"}
TELL_CLOCK = {"key_value", "json_lines", "logger_lines"}
