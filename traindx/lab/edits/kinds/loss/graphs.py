"""Removes the only `.detach()` or `.data` of a forward pass (fix `reattach-graph`).

Losses that are stored with their graph are stored without it: `losses.append(loss)`, `total += loss` (fix
`release-graph`). They stay tensors, so whatever reads them still works."""

from traindx.lab.edits.api import Found, Project, Source, backwards, cst, forward_of, writes


@writes(fixes=("reattach-graph",))
def reattach_graph(project: Project, _value: str) -> None:
    cuts = [(source, node) for source in project.sources for node in in_forward(source)]
    if len(cuts) != 1:
        write = "no .detach(), .data, .item() or no_grad() between the layers and the loss"
        why = f"{len(cuts)} cuts were found in forward passes"
        raise cuts[0][0].doubt(cuts[0][1], write, why) if cuts else project.doubt(write, why)
    source, node = cuts[0]
    cut = node.func if isinstance(node, cst.Call) else node
    assert isinstance(cut, cst.Attribute)
    inner = cut.value
    source.change(node, lambda _: inner, f"{source.code(node)} becomes {source.code(inner)}")


def in_forward(source: Source) -> list[cst.CSTNode]:
    """The cuts in forward passes of the project's modules."""
    found: list[cst.CSTNode] = [
        call for call in source.methods("detach") if forward_of(source, call) is not None and not call.args
    ]
    found += [
        node
        for node in source.all(cst.Attribute)
        if node.attr.value == "data"
        and forward_of(source, node) is not None
        # of something computed, and not of a parameter
        and (isinstance(node.value, cst.Call) or not source.code(node.value).startswith("self."))
    ]
    return found


@writes(fixes=("release-graph",))
def release_graph(project: Project, _value: str) -> None:
    found = [(back.source, node) for back in backwards(project) for node in uses_that_retain(back)]
    freed = any(one.source.code(one.call).endswith(".detach())") for one in project.methods("append"))
    for source, node in dict.fromkeys(found):
        says = f"{source.code(node)} is stored without its graph"
        source.change(node, lambda old: cst.Call(cst.Attribute(old, cst.Name("detach"))), says)
    if not found and not freed and not is_detached(project):
        raise project.doubt("loss.item() in what is stored", "what retains the graph was not found")


def is_detached(project: Project) -> bool:
    """Whether what is summed up is detached already."""
    return any(
        source.code(add.value).endswith((".detach()", ".item()"))
        for source in project.sources
        for add in source.all(cst.AugAssign)
    )


def uses_that_retain(back: Found) -> list[cst.Name]:
    """The uses of a loss that retain its graph: appended to a list, or added to a sum that outlives the
    step."""
    source = back.source
    loss = back.call.func.value if isinstance(back.call.func, cst.Attribute) else None
    if not isinstance(loss, cst.Name):
        return []
    same = [
        name
        for name in source.all(cst.Name)
        if name.value == loss.value and source.function(name) is source.function(loss)
    ]
    return [name for name in same if retains_graph(source, name, back)]


def retains_graph(source: Source, name: cst.Name, back: Found) -> bool:
    parent = source.parents.get(name)
    if isinstance(parent, cst.Arg):
        call = source.parents[parent]
        return (
            isinstance(call, cst.Call)
            and isinstance(call.func, cst.Attribute)
            and call.func.attr.value == "append"
        )
    adding = parent
    while isinstance(adding, cst.BinaryOperation):  # total += loss * n
        adding = source.parents.get(adding)
    later = source.line(name) > back.line
    return isinstance(adding, cst.AugAssign) and isinstance(adding.operator, cst.AddAssign) and later
