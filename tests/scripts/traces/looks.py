"""Looks at the objects of a training while it goes on, in all the ways in which scripts do."""

import copy
import inspect
import io
import multiprocessing
import pickle
import traceback

import torch
from torch import nn
from training import WithLoss, batch, digest, made, report, train


def saved(thing):
    """The bytes of `torch.save`, which are the same for the same objects."""
    file = io.BytesIO()
    torch.save(thing, file)
    return digest(file.getvalue())


def insides(thing):
    """Names, types and sizes of what an object holds."""
    sized = (dict, list, set, tuple)
    return [
        (name, type(v).__name__, len(v) if isinstance(v, sized) else None) for name, v in vars(thing).items()
    ]


def hooks(model, optimizer):
    return [insides(part) for part in (*model.modules(), optimizer)] + [
        (name, p._backward_hooks, p._post_accumulate_grad_hooks) for name, p in model.named_parameters()
    ]


def names(model, optimizer):
    # `__del__` is the one name of capture's: it measures a model at its end without keeping it alive until then.
    own = [name for name in dir(model) if name != "__del__"]
    return [
        list(model.state_dict()), list(optimizer.state_dict()), own, dir(optimizer), str(model.__class__),
        str(optimizer.__class__), str(type(model).__mro__), repr(model), repr(optimizer), sorted(vars(type(model))),
    ]  # fmt: skip


def signatures(model, optimizer):
    given = (model, model.forward, type(model), optimizer.step, type(optimizer), torch.optim.Optimizer)
    more = (nn.functional.cross_entropy, torch.autograd.backward, nn.Module.__call__)
    return [str(inspect.signature(one)) for one in (*given, *more)]


def global_hooks(model, optimizer):
    module = torch.nn.modules.module
    return [
        len(held)
        for name, held in sorted(vars(module).items())
        if name.startswith("_global") and held is not None
    ]


def sources(model, optimizer):
    return [digest(inspect.getsource(one).encode()) for one in (nn.Module.__call__, nn.Module, type(model))]


def copied(model, optimizer):
    twin = copy.deepcopy(model)
    pair = copy.deepcopy((model, optimizer))
    return [saved(twin), saved(pair[1].state_dict()), hooks(*pair)]


def pickled(model, optimizer):
    given = (model, model.first, list(model.parameters()), optimizer)
    return [saved(pickle.loads(pickle.dumps(one))) for one in given]  # pickles themselves hold addresses


def stored(model, optimizer):
    again = torch.load(io.BytesIO(bytes_of(model)), weights_only=False)
    return [
        saved(model),
        saved(optimizer),
        saved(model.state_dict()),
        saved(optimizer.state_dict()),
        saved(again),
    ]


def bytes_of(thing):
    file = io.BytesIO()
    torch.save(thing, file)
    return file.getvalue()


def elsewhere(model, queue):
    queue.put([saved(model), model(batch(0)[0]).sum().item()])


def spawned(model, optimizer):
    """The model is given to a process that begins anew."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=elsewhere, args=(model, queue))
    process.start()
    found = queue.get(timeout=120)
    process.join()
    return [found, process.exitcode]


def scripted(model, optimizer):
    with_loss = torch.jit.script(WithLoss(model))
    found = torch.jit.script(model)
    inner = str(found.inlined_graph), str(with_loss.inlined_graph), found.code, with_loss.code
    return [
        *inner,
        found(batch(0)[0]).sum().item(),
        with_loss(*batch(0)).item(),
        [n for n, _ in found.named_modules()],
    ]


def traced(model, optimizer):
    model.eval()
    try:
        found = torch.jit.trace(model, batch(0)[0])
        loose = torch.jit.trace(model, batch(0)[0], check_trace=False)
        loss = torch.jit.trace(WithLoss(model), batch(0))
        graphs = [str(one.inlined_graph) for one in (found, loose, loss)]
        return [*graphs, *(one.code for one in (found, loose, loss)), found(batch(1)[0]).sum().item()]
    finally:
        model.train()


def traced_in_training(model, optimizer):
    """The statistics of batch norm move, and the checks of tracing say so."""
    keep = copy.deepcopy(model.state_dict())
    found = torch.jit.trace(model, batch(0)[0], check_trace=False)
    model.load_state_dict(keep)
    return str(found.inlined_graph)


def symbolic(model, optimizer):
    found = torch.fx.symbolic_trace(model)
    loss = torch.fx.symbolic_trace(WithLoss(model))
    targets = [
        (node.op, getattr(node.target, "__name__", node.target))
        for node in (*found.graph.nodes, *loss.graph.nodes)
    ]
    return [
        found.code,
        loss.code,
        str(found.graph),
        str(loss.graph),
        targets,
        pickle.loads(pickle.dumps(found)).code,
    ]


def exported(model, optimizer):
    graphs = [
        torch.export.export(one, given, strict=strict).graph_module.code
        for one, given in ((model, (batch(0)[0],)), (WithLoss(model), batch(0)))
        for strict in (False, True)
    ]
    return [*graphs, str(torch.export.export(model, (batch(0)[0],)).graph_signature)]


def functional(model, optimizer):
    """Gradients by sample, and a functional call."""
    values = {name: p.detach() for name, p in model.named_parameters()}
    model.eval()

    def loss(values, x, y):
        out = torch.func.functional_call(model, values, (x[None],))
        return nn.functional.cross_entropy(out, y[None])

    try:
        found = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(values, *batch(0))
        return [v.double().abs().sum().item() for v in found.values()]
    finally:
        model.train()


def wrong(model, optimizer):
    """What an error within the model looks like to a script that catches it."""
    try:
        model(None)
    except AttributeError:
        return traceback.format_exc()


LOOKS = {
    look.__name__: look
    for look in (
        hooks, names, signatures, sources, global_hooks, copied, pickled, stored, spawned, scripted, traced,
        traced_in_training, symbolic, exported, functional, wrong,
    )
}  # fmt: skip

if __name__ == "__main__":
    model, optimizer = made()
    report(
        "before",
        {n: look for n, look in LOOKS.items() if n in ("hooks", "signatures", "sources")},
        model,
        optimizer,
    )
    train(model, optimizer, 0, 3)
    report("early", LOOKS, model, optimizer)
    train(model, optimizer, 3, 120)
    report("late", LOOKS, model, optimizer)
    print(train(model, optimizer, 120, 130))
    report("after", {"stored": stored}, model, optimizer)
