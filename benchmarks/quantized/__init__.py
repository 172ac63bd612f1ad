"""Faults of quantization-aware training, each in a script that is trained beside its healthy twin:

    python -m benchmarks.quantized train FOLDER [SCRIPT.FAULT ...]     # twins are called SCRIPT.healthy
    python -m benchmarks.quantized table FOLDER                        # what is said of each

A script is right where the first cause is one of those that were put in; a twin where it is not called sick.
"""
