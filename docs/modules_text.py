"""The words of docs/gradients-and-activations.md; tables and pictures are put in by `docs.modules`."""

# flag -> (what is seen, the limit in traindx.features.per_module.flags.Limits; None where nothing is compared)
FLAGS = {
    "not finite": ("NaN or infinity in the gradient or the output", None),
    "no gradient": (
        "the gradient is exactly zero on every row: cut off from the loss, or nothing gets through",
        None,
    ),
    "frozen": ("the same, of parameters that do not require a gradient: meant so", None),
    "died": ("a gradient that was there, and is exactly zero in the last tenth of the run", None),
    "never moves": ("a gradient in most steps, and the same weights after each of them", "rows"),
    "vanishing": ("the gradient is a small part of that of the last third of the modules", "vanishing"),
    "imbalanced": ("the gradient is many times the median module's", "imbalanced"),
    "leaps": ("the largest gradient is many times the median one", "leap"),
    "large steps": ("a step changes the weights by a large part of their size", "update_large"),
    "small steps": ("a step changes the weights by next to nothing", "update_small"),
    "grown": ("the last norm of the weights against the first", "grown"),
    "shrunk": ("the same, downwards", "shrunk"),
    "silent": (
        "units of a rectifier that no sample makes active, the least share in the second half",
        "silent",
    ),
    "saturated": ("pre-activations of a tanh or sigmoid beyond 3, where it is flat", "saturated"),
    "constant": ("the output is the same for every input", "rank"),
    "too wide": ("at the start, the spread of the output against the first module's", "explodes"),
    "dies out": ("the same, downwards", "dies_out"),
}

ALT = {
    "healthy-gradients": "Three modules; gradient norms within a factor of three of each other, updates within limits",
    "healthy-activations": "Spread around 1 in all modules, a fifth of the units silent at most, a steady rank",
    "deep-sigmoid-gradients": "A straight line on a logarithmic axis: the gradient falls by nine orders of magnitude "
    "from the output to the input, and the updates with it",
    "deep-sigmoid-normalized-gradients": "The same depth with normalization: all gradients within two orders of "
    "magnitude, all updates within limits",
    "dead-relus-gradients": "The gradients of three of four modules are exactly zero at the end",
    "dead-relus-activations": "Two thirds of the units of the last rectifier are silent; rank and spread end at zero",
    "exploding-rnn-gradients": "The largest gradients lie three orders of magnitude above the median",
}

PAGE = """# Reading gradients, updates and activations by module

A loss curve says that something is wrong; the modules say where. Logs seldom have them, so record the training first:

```
traindx run --out runs/exp1 -- python train.py          # the script as it is
traindx gradients runs/exp1 --figures pictures          # table, findings, pictures/gradient_flow.png
traindx activations runs/exp1 --figures pictures        # table, findings, pictures/activations.png
```

or put `with traindx.watch(model, optimizer, out="runs/exp1"):` around the loop
([in your own loop](library.md#in-your-own-loop)). What is measured, and how, is in [capture](capture.md).

All tables and pictures on this page are of trainings that were recorded so, from the scripts in `examples/`; they are
redrawn from the traces in `docs/traces` by `python -m docs.modules`.

## A net that learns

`traindx run -- python examples/classifier.py`: three linear layers with ReLUs, on spirals.

{table healthy gradients}
{figure healthy gradients}
Modules stand in the order in which the model holds them, mostly from the input to the output. Look at three things.

1. **Is the line level?** The gradient norms of a net that can learn lie within one or two orders of magnitude of
   each other. The absolute level says little: it depends on how the loss is averaged, and falls as the loss falls.
2. **Are the updates around 1e-3?** The norm of a step's change over the norm of the weights is the one number that
   has a usual value in most nets: between 1e-4 and 1e-2, more in the first steps, less at the end of a schedule. It
   says more than the gradient wherever the optimizer rescales (Adam and its kin), because it is what was done.
3. **Does it stay so?** The largest value should be tens of times the median, not thousands; weights may grow by
   some factor, the last layer most.

{table healthy activations}
{figure healthy activations}
The spread of the outputs stays around 1 through all layers; that is what initializations and normalization are made
for. Some units of a rectifier are silent in every net. What counts is units that *no* sample makes active: half of the
activations of a healthy ReLU net are zero at any moment, and that means nothing. An effective rank of 2 is right for
inputs of two dimensions; it is a warning only at 0.

## Gradients that vanish

`traindx run -- python examples/record_deep_sigmoid.py`: ten sigmoid layers without normalization.

{table deep-sigmoid gradients}
{figure deep-sigmoid gradients}
The derivative of a sigmoid is 0.25 at most, so each layer passes on less than a quarter of the gradient: a straight
line on a logarithmic axis. The last layer learns, with updates of 5 %, on features that are random and stay so; the
first ones would need 1e11 steps to change. A higher learning rate does not help: the last layer would diverge
long before the first one moved.

The same net with normalization before each sigmoid, `--normalized`:

{table deep-sigmoid-normalized gradients}
{figure deep-sigmoid-normalized gradients}
Linear layers and normalizations alternate, hence the teeth; the line as a whole is level, all updates are within
limits, and the net learns. ReLU or GELU with a matching initialization, or skip connections, do the same. See
[gradients-vanish-with-depth](rules.md#gradients-vanish-with-depth) and
[deep-without-skip-or-norm](causes.md#deep-without-skip-or-norm).

## ReLUs that have died

`traindx run -- python examples/record_dead_relus.py`: a learning rate of 3, sixty times what this net learns with.

{table dead-relus activations}
{figure dead-relus activations}
After the last rectifier (module 5) two thirds of the units were silent throughout the second half of the run, and in
most rows all of them: spread and rank are 0, and what follows is the same for every input. A silent unit has no
gradient and does not come back, and so nothing before it has one either:

{table dead-relus gradients}
{figure dead-relus gradients}
Only the last layer still has a gradient, from its bias. The damage was done by a few large steps early on (the first
tenth of the run still has gradients everywhere), which is why the remedy is a lower rate and not a longer run. See
[relu-units-dead](rules.md#relu-units-dead) and [dead-relus](causes.md#dead-relus).

## A gradient that explodes

`traindx run -- python examples/record_exploding_rnn.py`: a recurrent net over 30 steps, no clipping.

{table exploding-rnn gradients}
{figure exploding-rnn gradients}
The median says that all is well; the largest value is thousands of times as large, and single steps changed the head by
half of its weights. That is the signature of an exploding gradient: rare, huge, worst in the recurrent module, through
which the gradient passes 30 times. Each such step throws away what was learnt before. Clipping the global norm
(`--clip 1` in this script) cuts off those steps and leaves the others as they are. See
[gradient-norm-spikes](rules.md#gradient-norm-spikes), [exploding-recurrence](causes.md#exploding-recurrence) and
[clip-gradients](fixes.md#clip-gradients).

## The flags

A flag says that a module is outside of what healthy runs show, and nothing else: a net can learn well all the same, and
the line below the table says whether it does. The rules, whose findings stand at the end and decide the exit status,
ask that first. The limits are the rules' own, and move with `[tool.traindx]` ([thresholds](thresholds.md)).

{flags}
## When a table misleads

- **Embeddings** touch few rows in a batch: most of their gradient is zero, and its norm is not comparable. They are
  left out of comparisons between modules.
- **Frozen modules** have no gradient on purpose; they are marked as such where capture saw that they require
  none.
- **Layers before a normalization** can grow or shrink without changing what the net computes; the update ratio then
  falls as they grow.
- **Weights that start at zero** (the last layer of a residual branch, biases) have large ratios until they have grown.
- **Clipping** comes after the gradient was measured: the norms are those before it, the updates those after it.
- **Mixed precision**: gradients are shown without the loss scale; single rows that are not finite are the
  search for it.
- **Rows are sampled**, more densely where something happens and over the last steps. Medians are taken over equal
  stretches of steps, so that a dense stretch does not outvote the others.
- **Order**: a model that registers its head first looks upside down.
"""
