"""Boxes, tables under headings, and the lines of boosted trees."""

from __future__ import annotations

from text_training import Printer, train


def baselines_box(out: Printer) -> dict[str, object]:
    for m in train():
        if m.step % 4 == 0:
            at = (m.step + 1) * 2048
            out("-" * 41)
            out("| rollout/                |             |")
            out(f"|    ep_rew_mean          | {out.n('rollout/ep_rew_mean', at, 100 * m.acc, '<11.3g')} |")
            out("| time/                   |             |")
            out(f"|    fps                  | {out.n('time/fps', at, 1500, '<11.0f')} |")
            out(f"|    iterations           | {m.step + 1:<11} |")
            out(f"|    total_timesteps      | {at:<11} |")
            if m.step:
                out("| train/                  |             |")
                out(f"|    loss                 | {out.n('train/loss', at, m.loss, '<11.3g')} |")
                out(f"|    learning_rate        | {out.n('train/learning_rate', at, m.lr, '<11.3g')} |")
            out("-" * 41)
    return {"axis": "step"}


def spinning_up_box(out: Printer) -> dict[str, object]:
    for m in train(epochs=20):
        if m.last:
            at = m.epoch
            out("-" * 39)
            out(f"|             Epoch | {at:15d} |")
            out(f"|     AverageEpRet | {out.n('AverageEpRet', at, 100 * m.acc, '15.3g')} |")
            out(f"|            LossPi | {out.n('LossPi', at, m.loss, '15.3g')} |")
            out("-" * 39)
    return {"axis": "epoch"}


def spacy(out: Printer) -> dict[str, object]:
    out("E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  ENTS_P  ENTS_R  SCORE ")
    out("---  ------  ------------  --------  ------  ------  ------  ------")
    for m in train():
        if m.step % 5 == 0:
            tok, ner = (
                out.n("LOSS_TOK2VEC", m.step, 10 * m.loss, "12.2f"),
                out.n("LOSS_NER", m.step, 50 * m.loss, "8.2f"),
            )
            f, p, r = (out.n(k, m.step, 100 * m.acc, "6.2f") for k in ("ENTS_F", "ENTS_P", "ENTS_R"))
            out(
                f"{m.epoch:3d}  {m.step:6d}  {tok}  {ner}  {f}  {p}  {r}  {out.n('SCORE', m.step, m.acc, '6.2f')}"
            )
    return {"axis": "step"}


def fastai(out: Printer) -> dict[str, object]:
    out("epoch     train_loss  valid_loss  accuracy  time    ")
    for m in train(epochs=10):
        if m.last:
            e = m.epoch
            row = f"{e:<10}{out.n('train_loss', e, m.loss, '.6f'):<12}{out.n('valid_loss', e, m.val_loss, '.6f'):<12}"
            out(f"{row}{out.n('accuracy', e, m.val_acc, '.6f'):<10}00:0{e % 10}     ")
    return {"axis": "epoch"}


def skorch(out: Printer) -> dict[str, object]:
    out("  epoch    train_loss    valid_acc    valid_loss     dur")
    out("-------  ------------  -----------  ------------  ------")
    for m in train(epochs=10):
        if m.last:
            e = m.epoch + 1
            acc, held = (
                out.n("valid_acc", e, m.val_acc, "11.4f"),
                out.n("valid_loss", e, m.val_loss, "12.4f"),
            )
            out(
                f"{e:7d}  \x1b[36m{out.n('train_loss', e, m.loss, '12.4f')}\x1b[0m  \x1b[32m{acc}\x1b[0m  "
                f"{held}  {out.n('dur', e, 0.02 + m.seconds, '6.4f')}"
            )
    return {"axis": "epoch"}


def markdown_table(out: Printer) -> dict[str, object]:
    out("| Epoch | Train Loss | Val Loss | Val Acc |")
    out("|-------|------------|----------|---------|")
    for m in train(epochs=10):
        if m.last:
            e = m.epoch + 1
            out(
                f"| {e} | {out.n('Train_Loss', e, m.loss)} | {out.n('Val_Loss', e, m.val_loss)} | "
                f"{out.n('Val_Acc', e, m.val_acc)} |"
            )
    return {"axis": "epoch"}


def xgboost(out: Printer) -> dict[str, object]:
    for m in train():
        own = out.n("validation_0-logloss", m.step, m.loss, ".5f")
        held = out.n("validation_1-logloss", m.step, m.loss * 1.1, ".5f")
        out(f"[{m.step}]\tvalidation_0-logloss:{own}\tvalidation_1-logloss:{held}")
    roles = {"validation_0-logloss": "train/logloss", "validation_1-logloss": "val/logloss"}
    return {"axis": "step", "roles": roles, "framework": "xgboost"}


def lightgbm(out: Printer) -> dict[str, object]:
    out("[LightGBM] [Info] Total Bins 1530")
    out("[LightGBM] [Info] Number of data points in the train set: 300, number of used features: 6")
    out("Training until validation scores don't improve for 50 rounds")
    for m in train():
        if m.step % 10 == 9:
            at = m.step + 1
            own, held = (
                out.n("training's_l2", at, m.loss, ".6f"),
                out.n("valid_1's_l2", at, m.loss * 1.1, ".6f"),
            )
            out(f"[{at}]\ttraining's l2: {own}\tvalid_1's l2: {held}")
    out("Did not meet early stopping. Best iteration is:")
    roles = {"training's_l2": "train/l2", "valid_1's_l2": "val/l2"}
    return {"axis": "step", "roles": roles, "framework": "lightgbm"}


def catboost(out: Printer) -> dict[str, object]:
    out("Learning rate set to 0.03")
    for m in train():
        best = out.n("val/best", m.step, m.loss, ".7f")
        learn, test = out.n("learn", m.step, m.loss, ".7f"), out.n("test", m.step, m.loss * 1.1, ".7f")
        out(
            f"{m.step}:\tlearn: {learn}\ttest: {test}\tbest: {best} ({m.step})\ttotal: "
            f"{40 + m.step}ms\tremaining: {(100 - m.step) / 50:.2f}s"
        )
    out("")
    out("bestTest = 0.5412")
    out("bestIteration = 99")
    return {"axis": "step", "roles": {"learn": "train/loss", "test": "val/loss"}, "framework": "catboost"}


STYLES = {
    "baselines_box": baselines_box,
    "spinning_up_box": spinning_up_box,
    "spacy": spacy,
    "fastai": fastai,
    "skorch": skorch,
    "markdown_table": markdown_table,
    "xgboost": xgboost,
    "lightgbm": lightgbm,
    "catboost": catboost,
}
