"""How interventions are applied to trainings in Keras: a part of the catalogue in `capture/interventions`. Docstrings
say what differs from PyTorch and are printed in docs/interventions.md. Other interventions are refused."""
