"""qnt rules: quantization-aware training."""
