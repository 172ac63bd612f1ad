"""Prints of Caffe and of detection trainers."""

from __future__ import annotations

import math

from text_training import Printer, train

SOLVER = """Initializing solver from parameters:
test_iter: 10
test_interval: 25
base_lr: 0.5
display: 5
max_iter: 1000
lr_policy: "poly"
momentum: 0.9
weight_decay: 0.0005
random_seed: 42
net_param {
  layer {
    name: "data"
    data_param {
      batch_size: 32
    }
  }
  layer {
    name: "ip1"
    param {
      lr_mult: 1
    }
    param {
      lr_mult: 2
    }
    inner_product_param {
      num_output: 16
    }
    loss_weight: 1
  }
}"""


def glog(m: int, source: str, text: str) -> str:
    return f"I0604 20:{50 + m // 60:02d}:{m % 60:02d}.{277104 + m:06d}   904 {source}] {text}"


def caffe(out: Printer) -> dict[str, object]:
    for line in SOLVER.splitlines():
        out(line if not line.startswith("Init") else glog(0, "solver.cpp:48", line))
    smooth: list[float] = []
    for m in train():
        if m.step % 25 == 0 and m.step:
            out(glog(m.step, "solver.cpp:330", f"Iteration {m.step}, Testing net (#0)"))
            accuracy = out.n("val/accuracy", m.step, m.acc, ".6g")
            out(glog(m.step, "solver.cpp:397", f"    Test net output #0: accuracy = {accuracy}"))
            loss = out.n("val/loss", m.step, m.loss * 1.1, ".6g")
            out(glog(m.step, "solver.cpp:397", f"    Test net output #1: loss = {loss} (* 1 = {loss} loss)"))
        if m.step % 5 == 0:
            smooth.append(m.loss)
            rate = "-nan" if m.step == 0 else "1.02"
            mean = out.n("loss", m.step, sum(smooth[-4:]) / len(smooth[-4:]), ".6g")
            speed = out.n("iter/s", m.step, 0, text=rate)
            said = f"Iteration {m.step} ({speed} iter/s, 19.4s/5 iters), loss = {mean}"
            out(glog(m.step, "solver.cpp:218", said))
            own = out.n("train_net_output/loss", m.step, m.loss, ".6g")
            out(glog(m.step, "solver.cpp:237", f"    Train net output #0: loss = {own} (* 1 = {own} loss)"))
            rate = out.n("lr", m.step, m.lr, ".6g")
            out(glog(m.step, "sgd_solver.cpp:105", f"Iteration {m.step}, lr = {rate}"))
    out(glog(100, "solver.cpp:310", "Optimization Done."))
    facts = {
        "lr": 0.5,
        "planned_steps": 1000,
        "momentum": 0.9,
        "weight_decay": 0.0005,
        "batch_size": 32,
        "seed": 42,
        "schedule": "poly",
    }
    return {"facts": facts, "axis": "step", "framework": "caffe", "loose": ["iter/s"]}


def detectron2(out: Printer) -> dict[str, object]:
    out("[01/05 02:58:04] detectron2 INFO: Rank of current process: 0. World size: 6")
    for line in (
        "SOLVER:",
        "  BASE_LR: 0.5",
        "  IMS_PER_BATCH: 16",
        "  MAX_ITER: 18000",
        "  WARMUP_ITERS: 10",
        "  WEIGHT_DECAY: 0.0001",
    ):
        out(line)
    for m in train():
        if m.step % 25 == 24:
            values = ",".join(
                out.n(f"val/bbox/{k}", m.step, 100 * m.acc * s)
                for k, s in (("AP", 0.5), ("AP50", 0.9), ("AP75", 0.4))
            )
            stamp = f"[01/05 03:{m.step // 60:02d}:{m.step % 60:02d}] d2.evaluation.testing INFO: copypaste:"
            out(f"{stamp} Task: bbox")
            out(f"{stamp} AP,AP50,AP75")
            out(f"{stamp} {values}")
        if m.step % 5 == 4:
            total = out.n("total_loss", m.step, m.loss, ".4g")
            part = out.n("loss_cls", m.step, m.loss / 2, ".4g")
            rest = (
                f"time: {out.n('time', m.step, 0.67 + m.seconds)}  data_time: "
                f"{out.n('data_time', m.step, 0.07)}  lr: {out.n('lr', m.step, m.lr, '.5g')}"
            )
            memory = out.n("max_mem", m.step, 11810, ".0f")
            out(
                f"[01/05 03:{m.step // 60:02d}:{m.step % 60:02d}] d2.utils.events INFO:  eta: "
                f"3:{m.step % 60:02d}:43  iter: {m.step}  total_loss: {total}  loss_cls: {part}  {rest}  "
                f"max_mem: {memory}M"
            )
    out("FloatingPointError: Loss became infinite or NaN at iteration=100!")
    facts = {"lr": 0.5, "batch_size": 16, "planned_steps": 18000, "warmup_steps": 10, "weight_decay": 0.0001}
    shape = {"axis": "step", "framework": "detectron2", "events": ["crash"], "units": {"max_mem": "M"}}
    return {"facts": facts, **shape}


def mmdet(out: Printer) -> dict[str, object]:
    out("2026-11-22 01:30:00,000 - mmdet - INFO - Config:")
    for line in (
        "optimizer = dict(type='SGD', lr=0.5, momentum=0.9, weight_decay=0.0001)",
        "data = dict(samples_per_gpu=2, workers_per_gpu=2)",
        "total_epochs = 4",
    ):
        out(line)
    for m in train():
        if m.batch % 5 == 4:
            at = m.epoch * 25 + m.batch + 1
            figures = f"loss_cls: {out.n('loss_cls', at, m.loss / 2)}, loss: {out.n('loss', at, m.loss)}"
            norm = out.n("grad_norm", at, m.norm if m.step > 4 else math.nan)
            head = (
                f"2026-11-22 01:32:{m.step % 60:02d},502 - mmdet - INFO - Epoch "
                f"[{m.epoch + 1}][{m.batch + 1}/25]\tlr: {out.n('lr', at, m.lr, '.3e')}"
            )
            side = (
                f"eta: 7 days, 15:55:{m.step % 60:02d}, time: {out.n('time', at, 0.705, '.3f')}, "
                f"data_time: {out.n('data_time', at, 0.002, '.3f')}"
            )
            out(f"{head}, {side}, memory: {out.n('memory', at, 7239, '.0f')}, {figures}, grad_norm: {norm}")
        if m.last:
            out(
                f"2026-11-22 01:33:00,502 - mmdet - INFO - Epoch(val) [{m.epoch + 1}][10]\tbbox_mAP: "
                f"{out.n('val/bbox_mAP', at, m.val_acc)}"
            )
    return {"axis": "step", "facts": {"lr": 0.5, "planned_epochs": 4}, "framework": "mmdetection"}


def mmengine(out: Printer) -> dict[str, object]:
    for m in train():
        if m.batch % 5 == 4:
            at = m.epoch * 25 + m.batch + 1
            side = (
                f"eta: 0:{m.batch:02d}:43  time: {out.n('time', at, 0.5125)}  data_time: "
                f"{out.n('data_time', at, 0.0052)}  memory: {out.n('memory', at, 3456, '.0f')}"
            )
            head = f"01/05 10:00:{m.batch:02d} - mmengine - INFO - Epoch(train)  [{m.epoch + 1}][{m.batch + 1:2d}/25]"
            out(
                f"{head}  lr: {out.n('lr', at, m.lr, '.4e')}  {side}  loss: {out.n('loss', at, m.loss)}  "
                f"acc: {out.n('acc', at, 100 * m.acc)}"
            )
        if m.last:
            out(
                f"01/05 10:01:00 - mmengine - INFO - Epoch(val) [{m.epoch + 1}][10/10]    accuracy/top1: "
                f"{out.n('val/accuracy/top1', at, 100 * m.val_acc)}  data_time: 0.0123  time: 0.2345"
            )
            out.n("val/data_time", at, 0.0123), out.n("val/time", at, 0.2345)
    return {"axis": "step", "framework": "mmengine"}


def coco_summary(out: Printer) -> dict[str, object]:
    for m in train():
        if m.step % 5 == 0:
            out(
                f"[iter {m.step:05d}] loss_box={out.n('loss_box', m.step, m.loss)} "
                f"lr={out.n('lr', m.step, m.lr, '.3g')}"
            )
        if m.step % 25 == 23:
            for name, iou, area, value in (
                ("AP", "0.50:0.95", "   all", 0.4),
                ("AP50", "0.50     ", "   all", 0.6),
                ("APs", "0.50:0.95", " small", 0.2),
            ):
                out(
                    f" Average Precision  (AP) @[ IoU={iou} | area={area} | maxDets=100 ] = "
                    f"{out.n('val/' + name, m.step + 2, m.acc * value, '.3f')}"
                )
    return {"axis": "step"}


STYLES = {
    "caffe": caffe,
    "detectron2": detectron2,
    "mmdet": mmdet,
    "mmengine": mmengine,
    "coco_summary": coco_summary,
}
