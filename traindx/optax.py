"""`traindx.optax.monitor`: an optax transformation whose state holds the gradient's norms.

    optimizer = optax.chain(traindx.optax.monitor(), optax.adam(1e-3))
    state = optimizer.init(params)
    with traindx.watch(params, state, out="runs/exp1") as watch:
        for x, y in batches:
            params, state, loss = train_step(params, state, x, y)
            watch.log(loss=loss)
            watch.step(state)

A script under `traindx run` needs none of this: there the compiled step itself reports more.
"""

from traindx.capture.jax.monitor import MonitorState, monitor

__all__ = ["MonitorState", "monitor"]
