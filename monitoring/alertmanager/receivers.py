"""Who can be told of an alert: one builder for each kind of receiver.

Secrets are never in the configuration: each receiver names files in one folder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from alerts.settings import Language, Settings

Section = tuple[str, dict[str, Any]]
"""Key of Alertmanager's receiver (``slack_configs``) and one entry under it."""

_COLOR = '{{ if eq .Status "firing" }}danger{{ else }}good{{ end }}'
_CARD_COLOR = '{{ if eq .Status "firing" }}red{{ else }}green{{ end }}'
_WEBHOOK_TIMEOUT = "10s"


@dataclass(frozen=True)
class Surroundings:
    """What differs between docker compose and a chain on the bare machine.

    Attributes:
        secrets: Folder with one file a secret, as Alertmanager sees it.
        kit: URL of the kit's printing receiver.
        relay: Root URL of the relay to the robots.
    """

    secrets: str
    kit: str
    relay: str


@dataclass(frozen=True)
class Kind:
    """One kind of receiver.

    Attributes:
        secrets: Its files in the folder of secrets, Alertmanager's or the relay's.
        build: Returns its entry.
        robot: Whether it speaks the language of robots.
    """

    secrets: tuple[str, ...]
    build: Callable[[Settings, Surroundings, Language], Section]
    robot: bool = False


def section(name: str, settings: Settings, surroundings: Surroundings) -> Section:
    """Return the entry of a receiver that the settings name."""
    kind = KINDS[name]
    languages = settings.notification.languages
    language = languages.robots if kind.robot else languages.default
    key, entry = kind.build(settings, surroundings, language)
    return key, {**entry, "send_resolved": True}


def _title(language: Language) -> str:
    return f'{{{{ template "kit.title.{language}" . }}}}'


def _body(form: str, language: Language) -> str:
    return f'{{{{ template "kit.{form}.{language}" . }}}}'


def _kit(_: Settings, surroundings: Surroundings, __: Language) -> Section:
    return "webhook_configs", {"url": surroundings.kit, "timeout": _WEBHOOK_TIMEOUT}


def _webhook(_: Settings, surroundings: Surroundings, __: Language) -> Section:
    return "webhook_configs", {
        "url_file": f"{surroundings.secrets}/webhook-url",
        "timeout": _WEBHOOK_TIMEOUT,
    }


def _slack(_: Settings, surroundings: Surroundings, language: Language) -> Section:
    return "slack_configs", {
        "api_url_file": f"{surroundings.secrets}/slack-url",
        "color": _COLOR,
        "title": _title(language),
        "title_link": "{{ (index .Alerts 0).Annotations.dashboard_url }}",
        "fallback": _title(language),
        "text": _body("slack", language),
        "mrkdwn_in": ["text"],
    }


def _email(settings: Settings, surroundings: Surroundings, language: Language) -> Section:
    mail = settings.notification.email
    entry: dict[str, Any] = {
        "to": mail.to,
        "from": mail.sender,
        "smarthost": mail.smarthost,
        "headers": {"Subject": _title(language)},
        "html": _body("html", language),
        "text": _body("text", language),
    }
    if mail.username:
        entry |= {
            "auth_username": mail.username,
            "auth_password_file": f"{surroundings.secrets}/email-password",
        }
    return "email_configs", entry


def _pagerduty(_: Settings, surroundings: Surroundings, language: Language) -> Section:
    return "pagerduty_configs", {
        "routing_key_file": f"{surroundings.secrets}/pagerduty-key",
        "description": _title(language),
        "severity": "{{ or .CommonLabels.severity `warning` }}",
        "client": "vLLM monitoring kit",
        "client_url": "{{ .ExternalURL }}",
        "details": {"text": _body("text", language)},
        "links": [
            {
                "href": "{{ (index .Alerts 0).Annotations.dashboard_url }}",
                "text": "dashboard",
            },
            {"href": "{{ (index .Alerts 0).Annotations.runbook_url }}", "text": "runbook"},
        ],
    }


def _telegram(_: Settings, surroundings: Surroundings, language: Language) -> Section:
    return "telegram_configs", {
        "bot_token_file": f"{surroundings.secrets}/telegram-token",
        "chat_id_file": f"{surroundings.secrets}/telegram-chat",
        "parse_mode": "HTML",
        "message": _body("telegram", language),
    }


def _discord(_: Settings, surroundings: Surroundings, language: Language) -> Section:
    return "discord_configs", {
        "webhook_url_file": f"{surroundings.secrets}/discord-url",
        "title": _title(language),
        "message": _body("short", language),
    }


def _msteams(_: Settings, surroundings: Surroundings, language: Language) -> Section:
    return "msteamsv2_configs", {
        "webhook_url_file": f"{surroundings.secrets}/msteams-url",
        "title": _title(language),
        "text": _body("markdown", language),
    }


def _feishu(language: Language) -> dict[str, Any]:
    return {
        "msg_type": "interactive",
        "card": {
            "header": {
                "title": {"tag": "plain_text", "content": _title(language)},
                "template": _CARD_COLOR,
            },
            "elements": [{"tag": "markdown", "content": _body("markdown", language)}],
        },
    }


def _dingtalk(language: Language) -> dict[str, Any]:
    text = f"#### {_title(language)}\n\n{_body('markdown', language)}"
    return {"msgtype": "markdown", "markdown": {"title": _title(language), "text": text}}


def _wecom(language: Language) -> dict[str, Any]:
    text = f"**{_title(language)}**\n{_body('short', language)}"
    return {"msgtype": "markdown", "markdown": {"content": text}}


_PAYLOADS: dict[str, Callable[[Language], dict[str, Any]]] = {
    "feishu": _feishu,
    "dingtalk": _dingtalk,
    "wecom": _wecom,
}


def _robot(name: str, relayed: bool) -> Kind:
    def build(_: Settings, surroundings: Surroundings, language: Language) -> Section:
        target = (
            {"url": f"{surroundings.relay}/{name}"}
            if relayed
            else {"url_file": f"{surroundings.secrets}/{name}-url"}
        )
        payload = _PAYLOADS[name](language)
        return "webhook_configs", {**target, "timeout": _WEBHOOK_TIMEOUT, "payload": payload}

    secrets = [f"{name}-url"]
    if relayed and name != "wecom":
        secrets.append(f"{name}-secret")
    return Kind(tuple(secrets), build, robot=True)


KINDS: dict[str, Kind] = {
    "kit": Kind((), _kit),
    "webhook": Kind(("webhook-url",), _webhook),
    "slack": Kind(("slack-url",), _slack),
    "email": Kind(("email-password",), _email),
    "pagerduty": Kind(("pagerduty-key",), _pagerduty),
    "telegram": Kind(("telegram-token", "telegram-chat"), _telegram),
    "discord": Kind(("discord-url",), _discord),
    "msteams": Kind(("msteams-url",), _msteams),
    **{name: _robot(name, relayed=False) for name in _PAYLOADS},
    **{f"{name}_relay": _robot(name, relayed=True) for name in _PAYLOADS},
}
"""By the name under ``notification.receivers``. The heartbeat has a route of its own."""
