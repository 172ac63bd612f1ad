"""The words of docs/gradients-and-activations.md; tables and pictures are put in by `docs.modules`."""

# flag -> (what is seen, the limit in traindx.features.per_module.flags.Limits; None where nothing is compared)
FLAGS = {
    "not finite": ("NaN or infinity in the gradient or the output", None),
    "no gradient": (
        "the gradient is exactly zero on every row: the module is detached from the loss, or no gradient reaches it",
        None,
    ),
    "frozen": ("the same, for parameters that do not require a gradient: intended", None),
    "died": ("the gradient was not zero before, and is exactly zero in the last tenth of the run", None),
    "never moves": ("a gradient in most steps, and the same weights after each of them", "rows"),
    "vanishing": ("the gradient is a small part of that of the last third of the modules", "vanishing"),
    "imbalanced": ("the gradient is many times the median module's", "imbalanced"),
    "leaps": ("the largest gradient is many times the median one", "leap"),
    "large steps": ("a step changes the weights by a large part of their size", "update_large"),
    "small steps": ("a step hardly changes the weights", "update_small"),
    "grown": ("the last norm of the weights compared with the first", "grown"),
    "shrunk": ("the same, downwards", "shrunk"),
    "silent": (
        "units of a rectifier that no sample makes active, the lowest share in the second half",
        "silent",
    ),
    "saturated": ("pre-activations of a tanh or sigmoid beyond 3, where it is flat", "saturated"),
    "constant": ("the output is the same for every input", "rank"),
    "too wide": ("at the start, the spread of the output compared with the first module's", "explodes"),
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
    "exploding-rnn-gradients": "The largest gradients are three orders of magnitude above the median",
}

PAGE = """# Reading gradients, updates and activations by module

A loss curve shows that something is wrong. The modules show where. Logs seldom have their values, so
record the training first:

```
traindx run --out runs/exp1 -- python train.py          # the unchanged script
traindx gradients runs/exp1 --figures pictures          # table, findings, pictures/gradient_flow.png
traindx activations runs/exp1 --figures pictures        # table, findings, pictures/activations.png
```

or put `with traindx.watch(model, optimizer, out="runs/exp1"):` around the loop
([in your own loop](library.md#in-your-own-loop)). [Capture](capture.md) says what is measured and how.

All tables and pictures on this page come from such recordings of the scripts in `examples/`. `python -m docs.modules`
draws them again from the traces in `docs/traces`.

## A net that learns

`traindx run -- python examples/classifier.py`: three linear layers with ReLUs, on spirals.

{table healthy gradients}
{figure healthy gradients}
Modules are listed in the order of the model, mostly from the input to the output. Look at three things.

1. **Is the line level?** In a net that can learn, all gradient norms are within one or two orders of magnitude. The
   absolute level means little: it depends on how the loss is averaged, and falls as the loss falls.
2. **Are the updates around 1e-3?** The update ratio, the norm of a step's change divided by the norm of the weights,
   has a usual value in most nets: between 1e-4 and 1e-2, more in the first steps, less at the end of a schedule. It
   says more than the gradient if the optimizer rescales (as Adam does), because it is the actual change.
3. **Is it stable?** The largest value should be tens of times the median, not thousands. Weights may grow by
   some factor, most of all in the last layer.

{table healthy activations}
{figure healthy activations}
The spread of the outputs stays around 1 through all layers. That is the purpose of initialization and normalization.
Every net has some silent ReLU units: units that *no* sample makes active. That half of the activations are zero at
any moment is normal for a healthy ReLU net. An effective rank of 2 is right for inputs of two dimensions. It is a
warning only at 0.

## Gradients that vanish

`traindx run -- python examples/record_deep_sigmoid.py`: ten sigmoid layers without normalization.

{table deep-sigmoid gradients}
{figure deep-sigmoid gradients}
The derivative of a sigmoid is 0.25 at most, so each layer passes on less than a quarter of the gradient. That gives a
straight line on a logarithmic axis. The last layer learns, with updates of 5 %, on features that remain random. The
first layers would need 1e11 steps to change. A higher learning rate does not help: the last layer would diverge
long before the first one moved.

The same net with normalization before each sigmoid, `--normalized`:

{table deep-sigmoid-normalized gradients}
{figure deep-sigmoid-normalized gradients}
The line has teeth because linear layers and normalizations alternate. Overall it is level, all updates are within
limits, and the net learns. ReLU or GELU with a matching initialization, or skip connections, do the same. See
[gradients-vanish-with-depth](rules.md#gradients-vanish-with-depth) and
[deep-without-skip-or-norm](causes.md#deep-without-skip-or-norm).

## Dead ReLUs

`traindx run -- python examples/record_dead_relus.py`: a learning rate of 3, sixty times the rate that works for this net.

{table dead-relus activations}
{figure dead-relus activations}
After the last rectifier (module 5) two thirds of the units were silent throughout the second half of the run, and in
most rows all of them. Spread and rank are 0, and the output of later modules is the same for every input. A silent
unit has no gradient and does not recover, so the modules before it have no gradient either:

{table dead-relus gradients}
{figure dead-relus gradients}
Only the last layer still has a gradient, from its bias. A few large early steps did the damage: the first
tenth of the run still has gradients everywhere. So the remedy is a lower learning rate and not a longer run. See
[relu-units-dead](rules.md#relu-units-dead) and [dead-relus](causes.md#dead-relus).

## A gradient that explodes

`traindx run -- python examples/record_exploding_rnn.py`: a recurrent net over 30 steps, no clipping.

{table exploding-rnn gradients}
{figure exploding-rnn gradients}
The median looks healthy, but the largest value is thousands of times as large, and single steps changed the head by
half of its weights. This is typical of an exploding gradient: rare, huge, and worst in the recurrent module, which the
gradient passes 30 times. Each such step destroys what was learned before. Clipping the global norm
(`--clip 1` in this script) limits those steps and leaves the others as they are. See
[gradient-norm-spikes](rules.md#gradient-norm-spikes), [exploding-recurrence](causes.md#exploding-recurrence) and
[clip-gradients](fixes.md#clip-gradients).

## The flags

A flag means that a module is outside the range of healthy runs, and nothing more. The net can still learn well. The
line below the table says whether it does. The rules check that first; their findings are listed at the end and decide
the exit status. Flags use the limits of the rules, which you can change in `[tool.traindx]`
([thresholds](thresholds.md)).

{flags}
## When a table misleads

- **Embeddings** use few rows per batch, so most of their gradient is zero, and its norm is not comparable. They are
  left out of comparisons between modules.
- **Frozen modules** have no gradient on purpose. They are marked if capture saw that they require none.
- **Layers before a normalization** can grow or shrink without changing what the net computes. The update ratio then
  falls as they grow.
- **Weights that start at zero** (the last layer of a residual branch, biases) have large ratios until they have grown.
- **Clipping** comes after the measurement: norms are from before clipping, updates from after it.
- **Mixed precision**: gradients are shown without the loss scale. Single non-finite rows come from the search for
  the scale.
- **Rows are sampled**, more densely where something happens and over the last steps. Medians are taken over equal
  stretches of steps, so a dense stretch does not count more than others.
- **Order**: a model that registers its head first is listed in reverse.
"""
