"""Settings of the loaders that are trained from: batch size, workers, and the batches that these prepare."""

from traindx.capture.torch.alter.api import Any, Change, Site, applies, script_of
from traindx.capture.torch.alter.loaders import force_attributes, is_stream, why_not_rebuilt


@applies("batch", unused="the batches already have this size, or are the whole data set")
def batch(site: Site, wanted: Change) -> None:
    def resize(loader: Any) -> None:
        why = why_not_rebuilt(loader)
        if why:
            site.refuse(f"the loader's batch size cannot be changed ({why}); try accumulate=")
        own = loader.batch_size
        size = round(wanted.apply_to(own))
        size = max(1, min(size, len(loader.dataset)) if size > own else size)
        if size != own:
            loader.batch_sampler.batch_size = size
            force_attributes(loader, batch_size=size)
            site.touched("loaders")

    script = script_of(site)
    script.needs_loader(site)
    script.on_loader(site, resize, size=True)


@applies("workers")
def workers(site: Site, number: int) -> None:
    def employ(loader: Any) -> None:
        if loader.num_workers == number:
            return
        if is_stream(loader):
            site.refuse("the loader's data set is a stream, which every worker would repeat")
        loader.num_workers = number
        loader.prefetch_factor = (loader.prefetch_factor or 2) if number else None
        if not number:
            loader.timeout = 0
            force_attributes(loader, persistent_workers=False)
        site.touched("loaders")

    script = script_of(site)
    script.needs_loader(site)
    script.on_loader(site, employ)
    site.unused = f"the loaders already have {number} workers"


@applies("prefetch")
def prefetch(site: Site, number: int) -> None:
    def ahead(loader: Any) -> None:
        if not loader.num_workers:
            site.refuse("the loader has no workers that could prepare batches; add workers=")
        if loader.prefetch_factor != number:
            loader.prefetch_factor = number
            site.touched("loaders")

    script = script_of(site)
    script.needs_loader(site)
    script.on_loader(site, ahead)
    site.unused = f"the workers already prepare {number} batches"
