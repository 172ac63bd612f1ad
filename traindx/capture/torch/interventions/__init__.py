"""How interventions are applied to trainings in PyTorch. `capture/interventions` is the catalogue and explains how to
add one. These modules import torch: they are loaded in the script's process, once torch is."""
