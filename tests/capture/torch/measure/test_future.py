"""Whether the outputs of a model of the next token depend on later tokens: asked once, when the recording is over."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402 - needs torch

from traindx.capture.torch.measure.reruns.future_tokens import FutureTokens  # noqa: E402

WORDS = 12


class Attends(nn.Module):
    """One layer of attention over tokens[n, t] or, with `first`, over [t, n]; `shift` moves the mask's diagonal."""

    def __init__(self, masked: bool, shift: int = 0, first: bool = False, flattened: bool = False) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.words, self.out = nn.Embedding(WORDS, 16), nn.Linear(16, WORDS)
        self.attention = nn.MultiheadAttention(16, 2, dropout=0.3, batch_first=not first)
        self.masked, self.shift, self.first, self.flattened = masked, shift, first, flattened

    def forward(self, tokens: Any) -> Any:
        length = tokens.shape[0 if self.first else 1]
        mask = torch.ones(length, length, dtype=torch.bool).triu(1 + self.shift) if self.masked else None
        h = self.words(tokens)
        found = self.out(self.attention(h, h, h, attn_mask=mask)[0])
        return found.flatten(0, 1) if self.flattened else found


def asked(model: nn.Module, first: bool = False, apart: int = 1) -> dict[str, Any]:
    """What is found of a model of the token `apart` steps on."""
    text = torch.randint(0, WORDS, (5, 17), generator=torch.Generator().manual_seed(1))
    given, wanted = text[:, : 17 - apart], text[:, apart:]
    future = FutureTokens()
    future.record(model, (given.T if first else given,), {})
    future.record_targets((wanted.T if first else wanted).reshape(-1))
    return future.facts()


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("flattened", [False, True])
def test_attention_sees_what_comes_after_unless_it_is_masked(first: bool, flattened: bool) -> None:
    assert asked(Attends(True, first=first, flattened=flattened), first)["future_effect"] == 0
    assert asked(Attends(False, first=first, flattened=flattened), first)["future_effect"] > 0.01


def test_a_mask_that_is_off_by_one_is_seen() -> None:
    assert asked(Attends(True, shift=1))["future_effect"] > 0.01
    assert asked(Attends(True, shift=-0))["future_effect"] == 0


def test_recurrence_in_both_directions_sees_the_future() -> None:
    class Recurrent(nn.Module):
        def __init__(self, both: bool) -> None:
            super().__init__()
            self.words = nn.Embedding(WORDS, 8)
            self.cells = nn.GRU(8, 8, batch_first=True, bidirectional=both)
            self.out = nn.Linear(16 if both else 8, WORDS)

        def forward(self, tokens: Any) -> Any:
            return self.out(self.cells(self.words(tokens))[0])

    assert asked(Recurrent(True))["future_effect"] > 0.01
    assert asked(Recurrent(False))["future_effect"] == 0


def test_only_models_of_the_next_token_are_asked() -> None:
    assert asked(Attends(False), apart=2) == {}  # the token after the next is foretold
    tagger = FutureTokens()
    tokens = torch.randint(0, WORDS, (4, 9))
    model = Attends(False)
    tagger.record(model, (tokens,), {})
    tagger.record_targets(tokens % 3)
    assert tagger.facts() == {}


def test_nothing_of_the_model_or_the_random_state_is_changed() -> None:
    model = Attends(False)
    model.register_buffer("calls", torch.zeros(1))
    forward = model.forward

    def counted(tokens: Any) -> Any:
        model.calls += 1
        return forward(tokens)

    model.forward = counted
    before, random = {k: v.clone() for k, v in model.state_dict().items()}, torch.get_rng_state()
    assert asked(model)["future_effect"] > 0
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert model.training
    assert torch.equal(random, torch.get_rng_state())


def test_a_model_that_cannot_be_called_again_is_left_alone() -> None:
    class Once(Attends):
        def forward(self, tokens: Any) -> Any:
            raise RuntimeError("no more data")

    assert asked(Once(False)) == {"future_not_checked": "the model could not be called: RuntimeError"}
