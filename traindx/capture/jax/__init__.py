"""JAX: a sketch of the room, with one scalar and one panel from a training to a finding.

What is there:

- `monitor`: an optax transformation whose state holds the gradient's norm of each leaf. It is compiled with the step,
  calls nothing on the host, and changes no number of the training.
- `discover`: finds that state in the optimizer's, and tells a session the steps that the loop tells it.
- `backend`: leaves of a tree and their names, for the session; numbers stay with JAX until many are fetched at once.

    optimizer = optax.chain(monitor(), optax.adam(1e-3))
    state = optimizer.init(params)
    with traindx.watch(params, state, out="runs/exp1") as watch:
        for x, y in batches:
            params, state, loss = train_step(params, state, x, y)
            watch.log(loss=loss)
            watch.step(state)

What is to come: the loss by the transformation's extra argument; updates, weights and learning rates (monitors around a
transformation see them); several optimizers; `pmap`, whose state has one norm a device; micro-batches of `MultiSteps`,
which count as steps here; activations, batches; names as Flax, Equinox and Haiku have them (those of the tree's paths,
until then); scripts that are started by `traindx run`; interventions.
"""
