"""One set of faults and healthy twins, written once for each framework and recorded as `traindx run` records it:

    python -m benchmarks.frames train FOLDER torch|lightning|hf|keras|nnx|equinox     # KERAS_BACKEND tells which Keras
    python -m benchmarks.frames table FOLDER                             # causes first, by framework

A cell is right where the first hypothesis is one of the causes that were put in (or `healthy`).
"""
