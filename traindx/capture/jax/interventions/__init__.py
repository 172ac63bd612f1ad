"""What the interventions of the catalogue do in JAX: to the calls that make an optimizer of optax. Module by subject,
as in the catalogue."""
