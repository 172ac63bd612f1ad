"""dat rules: data, from the batches that passed by."""
