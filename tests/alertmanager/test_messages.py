"""What a reader sees, by the templates of the default settings, against golden files.

To renew them after a wanted change: `KIT_RENEW_GOLDEN=1 pytest tests/alertmanager`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner

from alerts import catalogue, prometheus
from alerts.settings import load
from monitoring.alertmanager import build, messages

Amtool = Callable[..., str]

_GOLDEN = Path(__file__).with_name("golden")
_TEMPLATES = Path(build.__file__).with_name("templates")
_FORMS = [form.name for form in messages.FORMS]
_LABELS = {"alertname": "VLLMServerDown", "job": "vllm", "severity": "critical"}


def _texts() -> dict[str, str]:
    settings = load()
    rules = prometheus.document(catalogue.groups(settings), settings)
    found = [r for group in rules["groups"] for r in group["rules"]]
    notes = next(r for r in found if r.get("alert") == "VLLMServerDown")["annotations"]
    return dict(notes)


def _alert(number: int, resolved: bool = False, **labels: str) -> dict[str, Any]:
    server = f"gpu{number}:8000"
    texts = {
        name: text.replace("{{ $labels.server }}", server)
        .replace("{{ $labels.instance }}", server)
        .replace("{{ $labels.server | urlquery }}", f"gpu{number}%3A8000")
        for name, text in _texts().items()
    }
    return {
        "status": "resolved" if resolved else "firing",
        "labels": {**_LABELS, "server": server, "instance": server, **labels},
        "annotations": texts,
        "startsAt": "2026-11-29T16:00:00Z",
        "endsAt": "2026-11-29T16:12:30Z" if resolved else "0001-01-01T00:00:00Z",
        "generatorURL": "http://127.0.0.1:19090/graph",
        "fingerprint": f"{number:016x}",
    }


def _message(*alerts: dict[str, Any]) -> dict[str, Any]:
    first = alerts[0]["labels"]
    common = {k: v for k, v in first.items() if all(a["labels"].get(k) == v for a in alerts)}
    firing = any(alert["status"] == "firing" for alert in alerts)
    return {
        "receiver": "critical",
        "status": "firing" if firing else "resolved",
        "externalURL": "http://127.0.0.1:19093",
        "groupLabels": {"alertname": "VLLMServerDown", "job": "vllm"},
        "commonLabels": common,
        "commonAnnotations": {},
        "alerts": list(alerts),
    }


_MESSAGES = {
    "one": _message(_alert(1)),
    "many": _message(*(_alert(number) for number in range(1, 26))),
    "resolved": _message(_alert(1, resolved=True)),
    "mixed": _message(_alert(1), _alert(2, resolved=True)),
    "drill": _message(_alert(1, drill="yes")),
}


@pytest.fixture
def rendered(amtool: Amtool, tmp_path: Path) -> Callable[[str, dict[str, Any], bool], str]:
    def render(template: str, message: dict[str, Any], html: bool = False) -> str:
        data = tmp_path / "data.json"
        data.write_text(json.dumps(message), encoding="utf-8")
        return amtool(
            *("template", "render", f"--template.glob={_TEMPLATES}/*.tmpl"),
            *("--template.text", f'{{{{ template "kit.{template}" . }}}}'),
            *("--template.data", data, f"--template.type={'html' if html else 'text'}"),
        )

    return render


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("case", _MESSAGES)
def test_messages_are_the_golden_ones(
    case: str, language: str, rendered: Callable[..., str]
) -> None:
    parts = []
    for form in ("title", *_FORMS):
        html = form in {"html", "telegram"}
        text = rendered(f"{form}.{language}", _MESSAGES[case], html)
        parts.append(f"=== {form} ===\n{text.strip()}\n")
    golden = _GOLDEN / f"{case}.{language}.txt"
    if os.environ.get("KIT_RENEW_GOLDEN"):
        golden.write_text("\n".join(parts), encoding="utf-8")
    assert "\n".join(parts) == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_long_group_is_cut_with_a_count_and_fits_the_receiver(
    language: str, rendered: Callable[..., str]
) -> None:
    short = rendered(f"short.{language}", _MESSAGES["many"])
    assert "22" in short
    assert "gpu3:8000" in short
    assert "gpu4:8000" not in short
    assert len(short.encode()) < 4096
    telegram = rendered(f"telegram.{language}", _MESSAGES["many"], True)
    assert "21" in telegram
    assert len(telegram) < 4096


def test_values_cannot_inject_markup_into_html(rendered: Callable[..., str]) -> None:
    alert = _alert(1)
    alert["annotations"]["description"] = "<script>x</script>"
    assert "<script>" not in rendered("html.en", _message(alert), True)


def test_chinese_is_told_in_chinese(rendered: Callable[..., str]) -> None:
    text = rendered("text.zh", _MESSAGES["one"])
    for words in ("可能原因", "处理办法", "没有响应", "运行手册", "设置静默"):
        assert words in text
    assert "What to do" not in text


def test_a_rule_without_chinese_is_told_in_english(rendered: Callable[..., str]) -> None:
    alert = _alert(1)
    alert["annotations"] = {
        name: text for name, text in alert["annotations"].items() if not name.endswith("_zh")
    }
    assert "does not answer" in rendered("text.zh", _message(alert))


def test_every_template_that_a_receiver_uses_is_defined() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in _TEMPLATES.glob("*.tmpl"))
    configuration = build.rendered(load(), build.COMPOSE)["alertmanager.yml"]
    assert yaml.safe_load(configuration)["templates"] == ["templates/*.tmpl"]
    for form in ("title", *_FORMS):
        for language in ("en", "zh"):
            assert f'define "kit.{form}.{language}"' in text


def test_the_build_explains_each_of_its_options() -> None:
    shown = CliRunner().invoke(build.command, ["-h"])
    assert shown.exit_code == 0
    for option in build.command.params:
        assert isinstance(option, click.Option)
        assert option.help
        assert option.opts[0] in shown.output
