"""Keras 3, on TensorFlow, JAX and PyTorch: a compiled model in `fit` and `train_on_batch`.

- `notes`: the loss of each batch, and norm and zeros of each variable's gradient, computed within the train
  step, compiled or not, of one optimizer or several, and held in two more variables of the model's loss
  tracker. Metrics are not saved with a model, and these two are gone when `fit` ends; in a model that is
  fitted again and again, when the script ends.
- `state`: the values of variables during an epoch.
- `facts`: what the model, `compile` and the optimizer say.
- `batches`: the batches on their way to the step.
- `passes`: on sampled steps, the outputs of the layers for a batch, in a separate forward pass. `rounded`:
  weights that they use rounded.
- `observer`, `backend`: all of it for a session. They call Keras only, whatever its backend.
- `training`: one model as it is fitted. `watching`: `traindx.watch`. `launched`: scripts under `traindx
  run`. `traindx.keras.Watch` is the callback.

- `turns`: which of several models is recorded.
- `loops`: custom loops with an optimizer of Keras, in TensorFlow and PyTorch. `capture/jax` records those on
  JAX.
- `experiment`, `interventions`, `alter`: a training that is changed from outside. `kept`: the model that it
  ends with.

Of `steps_per_execution` batches the last one is recorded; with `gradient_accumulation_steps` each batch
counts as a step. Numbers are fetched at each batch, as Keras does for any callback."""
