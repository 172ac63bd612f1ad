"""Examples as the frameworks' own guides have them, rewritten small and offline: does recording change any of them?

    python -m benchmarks.frames.starts [--python NAME=PYTHON ...] [SCRIPT ...]

`--python` names the interpreter of an environment: `jax` (Keras on JAX and PyTorch, JAX, PyTorch), `tensorflow`,
`trainers` (Lightning, Transformers, Accelerate); without it, the one at work. Each script is run plain and under
`traindx run`; what it prints (losses, metrics, a digest of all weights) has to be the same to the last character. Where
it is not, it is run plain once more: what differs then is the framework's own.
"""
