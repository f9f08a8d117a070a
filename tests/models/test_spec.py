"""Models by one line, and what importing them costs."""

import subprocess
import sys

import pytest

import planroute.models
from planroute.errors import InputError
from planroute.models import FORMS, LiveModel, open_model
from planroute.protocols import Model


@pytest.mark.parametrize(
    ("spec", "endpoint"),
    [
        ("embedded", "embedded:SmolLM2-135M-Instruct.Q4_1.gguf@b179c9523d0e"),
        ("scripted/minimal", "scripted/minimal"),
        ("openai:gpt-4o-mini", "https://api.openai.com/v1#gpt-4o-mini"),
        ("http://localhost:8000/v1#qwen", "http://localhost:8000/v1#qwen"),
        ("HTTP://localhost:8000/v1#qwen", "http://localhost:8000/v1#qwen"),
        ("https://user:secret@host/v1/?key=secret#org/model", "https://host/v1#org/model"),
    ],
)
def test_forms(monkeypatch: pytest.MonkeyPatch, spec: str, endpoint: str) -> None:
    monkeypatch.delenv("PLANROUTE_BASE_URL", raising=False)
    model = open_model(spec)
    assert isinstance(model, Model)
    assert model.endpoint == endpoint


def test_the_base_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANROUTE_BASE_URL", "http://one/v1")
    assert open_model("openai:m").endpoint == "http://one/v1#m"
    model = open_model("openai:m", base_url="http://two/v1")
    assert isinstance(model, LiveModel)
    assert model.endpoint == "http://two/v1#m"


@pytest.mark.parametrize(
    "spec", ["", "gpt-4", "gguf:", "recorded:", "openai:", "embedded:x", "http://host/v1", "https://k:canary@h/v1"]
)
def test_an_unknown_form_lists_all(spec: str) -> None:
    with pytest.raises(InputError, match="unknown model") as caught:
        open_model(spec)
    assert all(form in str(caught.value) for form, _ in FORMS)
    assert "canary" not in str(caught.value)


def test_public_names() -> None:
    assert set(planroute.models.__all__) <= set(dir(planroute.models))
    for name in planroute.models.__all__:
        assert getattr(planroute.models, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        planroute.models.nothing  # noqa: B018


def test_importing_loads_nothing_heavy() -> None:
    code = """
import planroute.models
import sys
from planroute.models import CachedModel, CallCache, ScriptedModel, open_model, cache_folder
open_model("scripted/minimal"), open_model("embedded"), open_model("openai:m")
heavy = {"openai", "xllamacpp", "numpy", "json_repair", "pydantic_settings"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)
