"""A linear fit by Adam on batches, with gradients of a plain function."""

import jax
import jax.numpy as jnp
import optax

key = jax.random.key(42)
given = jnp.array([[0.5, -1.5], [1.0, 2.0]])
rows = jax.random.normal(key, (512, 2))
wanted = rows @ given
params = {"weights": jnp.zeros((2, 2))}
optimizer = optax.adam(learning_rate=0.05)
state = optimizer.init(params)


@jax.jit
def loss_of(params, x, y):
    return optax.l2_loss(x @ params["weights"], y).mean()


for step in range(120):
    at = 16 * (step % 32)
    value, grads = jax.value_and_grad(loss_of)(params, rows[at : at + 16], wanted[at : at + 16])
    updates, state = optimizer.update(grads, state)
    params = optax.apply_updates(params, updates)
    if step % 20 == 0:
        print(step, f"{value:.5e}")
print([float(w).hex() for w in params["weights"].reshape(-1)])
