"""Which method of a session handles which event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traindx.capture.session import events
from traindx.capture.session.session import Session

METHODS: dict[type, Callable[[Session, Any], None]] = {
    events.ModelFound: lambda session, e: session.add_model(e.model, e.name),
    events.PartCalled: lambda session, e: session.called(e.part),
    events.OptimizerFound: lambda session, e: session.add_optimizer(e.optimizer),
    events.ScalerFound: lambda session, e: session.add_scaler(e.scaler),
    events.DataWaited: lambda session, e: session.data_wait(e.seconds),
    events.BatchSeen: lambda session, e: session.batch(
        e.inputs, e.targets, training=e.training, source=e.source, trained=e.trained
    ),
    events.OutputsSeen: lambda session, e: session.outputs(e.outputs, e.function),
    events.LossMade: lambda session, e: session.loss(e.value, where=e.where),
    events.GraphWhole: lambda session, e: session.before_backward(e.loss, e.factor),
    events.BackwardBegins: lambda session, e: session.backward_begin(e.stale),
    events.BackwardEnds: lambda session, e: session.backward_end(),
    events.GradientsClipped: lambda session, e: session.clip(e.norm, e.limit),
    events.GradientsZeroed: lambda session, e: session.zero_grad(e.owner),
    events.StepBegins: lambda session, e: session.optimizer_step_begin(e.optimizer),
    events.StepEnds: lambda session, e: session.optimizer_step_end(e.optimizer),
    events.StepSkipped: lambda session, e: session.skipped(),
    events.ValidationPassed: lambda session, e: session.validation(e.name, e.value),
    events.MetricLogged: lambda session, e: session.metric(e.name, e.value),
}
