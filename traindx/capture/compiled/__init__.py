"""Compiled steps: none can be observed from outside, so it reports to the host what it computes. Shared
by optax (`capture/jax`) and by Keras's optimizers in custom loops (`capture/keras/loops`).

- `callbacks`: what the host does with values that a compiled step sends, and how it ends a script from
  there.
- `steps`: pairs the losses, batches and readings of a step, which come in any thread, and reports them in
  order.
- `backend`: a session's backend for such steps. `reported` is the part of it that Keras's `fit` shares.
- `leaves`: parameters whose arrays are replaced at each step.
"""
