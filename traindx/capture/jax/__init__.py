"""JAX: loops with optax.

- `launched`: scripts under `traindx run`, unmodified. What is called while a step is traced also sends the
  host what was computed (`send`, a primitive without results; `readings`: what of a step; `near`: what the
  host reads of it itself; `dispatch`: how it is started); `compiled/steps` pairs it and hands it to a
  session.
- `monitor`: an optax transformation whose state holds the gradient's norm of each leaf. It is compiled with
  the step, calls nothing on the host, and changes no number of the training. `discover` finds that state in
  the optimizer's for `traindx.watch`, `backend` speaks for it.
- `experiment`, `interventions`: how an optimizer of optax is made, changed from outside. `settings` reads it.
- `names`: leaves as Flax, Equinox, Haiku and plain trees name them.

Not there yet: several optimizers (the first one's parameters are recorded), `pmap` (each device would
report), micro-batches of `MultiSteps`, which count as steps; activations by module."""
