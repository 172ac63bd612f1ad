"""Keras 3: a sketch of the room, with one scalar and one panel from a training to a finding.

What is there:

- `measure`: the loss of each batch and the gradient's norm of each variable, computed within the train step, compiled
  or not, and held in two more variables of the model's loss tracker. Metrics are not saved with a model, and these two
  are gone when `fit` ends.
- `discover`: a callback that tells them to a session batch by batch, and the validation of each epoch.
- `backend`: variables by layer, for the session. It speaks to `keras.ops` alone, so the backend of Keras does not
  matter; JAX and PyTorch are tested, TensorFlow is not yet.

    with traindx.watch(model, out="runs/exp1") as watch:
        model.fit(x, y, epochs=10, callbacks=[watch.callback])

What is to come: a callback that needs no `with`; updates and weights, learning rates; activations, batches; loss and
metrics as `compile` was told them; loops of one's own, `train_on_batch`, and a `train_step` that does not feed the loss
tracker (an event `not-measured` says so); loss scaling (refused, until its steps left out can be told from broken
ones). Of `steps_per_execution` batches the last one is recorded; with `gradient_accumulation_steps` each batch counts
as a step. Numbers are fetched at each batch, as Keras does for any callback. Further to come: scripts that are started
by `traindx run`; interventions.
"""
