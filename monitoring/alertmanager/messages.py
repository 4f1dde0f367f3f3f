"""Alertmanager's message templates: two languages, several markups, one structure.

A message has a title, then what is wrong with each series (value, where, since when, link to its
panel), then cause and action, then links to runbook and silence, then what is resolved. Groups are
by alert, so cause and action are said once. Long groups are cut, with a count of the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from alerts.settings import Language, Settings

_DATE = "2006-01-02 15:04:05 MST"


@dataclass(frozen=True)
class Words:
    """What stands between the data, in one language."""

    suffix: str
    firing: str
    resolved: str
    drill: str
    since: str
    until: str
    cause: str
    action: str
    dashboard: str
    runbook: str
    silence: str
    more: str
    separator: str


WORDS: dict[Language, Words] = {
    "en": Words(
        suffix="",
        firing="FIRING",
        resolved="RESOLVED",
        drill="DRILL ",
        since="since",
        until="until",
        cause="Likely cause",
        action="What to do",
        dashboard="dashboard",
        runbook="Runbook",
        silence="Silence",
        more="and {count} more",
        separator=": ",
    ),
    "zh": Words(
        suffix="_zh",
        firing="告警",
        resolved="已恢复",
        drill="演练 ",
        since="开始于",
        until="结束于",
        cause="可能原因",
        action="处理办法",
        dashboard="仪表盘",
        runbook="运行手册",
        silence="设置静默",
        more="另有 {count} 条",
        separator="：",  # noqa: RUF001
    ),
}


@dataclass(frozen=True)
class Form:
    """One markup.

    Attributes:
        name: Second part of the template's name.
        bold: Before and after bold text.
        link: Pattern of a link, with ``URL`` and ``TEXT``.
        newline: Between lines.
        alerts: How many alerts of each status are told before the rest is counted.
        with_title: Whether the title stands in the body, where the receiver has no place for it.
    """

    name: str
    bold: tuple[str, str]
    link: str
    newline: str
    alerts: int
    with_title: bool = False


FORMS = (
    Form("text", ("", ""), "TEXT: URL", "\n", 10),
    Form("slack", ("*", "*"), "<URL|TEXT>", "\n", 8),
    Form("markdown", ("**", "**"), "[TEXT](URL)", "\n\n", 8),
    # Discord takes 4096 characters, WeCom 4096 bytes.
    Form("short", ("**", "**"), "[TEXT](URL)", "\n", 3),
    Form("html", ("<b>", "</b>"), '<a href="URL">TEXT</a>', "\n", 20, with_title=True),
    # Telegram takes 4096 characters and few tags.
    Form("telegram", ("<b>", "</b>"), '<a href="URL">TEXT</a>', "\n", 4, with_title=True),
)


def file_name(language: Language) -> str:
    """Return the name of the template file of a language."""
    return f"kit.{language}.tmpl"


def render(language: Language, settings: Settings) -> str:
    """Return the template file of a language."""
    words = WORDS[language]
    zone = settings.notification.time_zone
    parts = [
        "{{/* Written from monitoring/alertmanager/messages.py and the settings; do not edit. */}}",
        _where(language),
        _title(language, words),
        *(_body(language, words, form, zone) for form in FORMS),
    ]
    return "\n".join(parts) + "\n"


def _define(name: str, language: Language, content: str) -> str:
    return f'{{{{ define "kit.{name}.{language}" }}}}{content}{{{{ end }}}}'


def _where(language: Language) -> str:
    """Return the labels that say where, those that are there."""
    named = "".join(
        f"{{{{ with .{label} }}}} {text}{{{{ . }}}}{{{{ end }}}}"
        for label, text in (
            ("server", ""),
            ("model_name", ""),
            ("gpu", "GPU "),
            ("integration", ""),
        )
    )
    otherwise = "{{ if not .server }}{{ with .instance }} {{ . }}{{ end }}{{ end }}"
    return _define("where", language, named + otherwise)


def _title(language: Language, words: Words) -> str:
    status = (
        f"[{{{{ if .CommonLabels.drill }}}}{words.drill}{{{{ end }}}}"
        f'{{{{ if eq .Status "firing" }}}}{words.firing}:{{{{ .Alerts.Firing | len }}}}'
        f"{{{{ else }}}}{words.resolved}:{{{{ .Alerts.Resolved | len }}}}{{{{ end }}}}]"
    )
    return _define(
        "title",
        language,
        f"{status} {{{{ .CommonLabels.severity }}}} {{{{ .CommonLabels.alertname }}}}"
        f'{{{{ template "kit.where.{language}" .CommonLabels }}}}',
    )


def _body(language: Language, words: Words, form: Form, zone: str) -> str:
    newline, (bold, plain) = form.newline, form.bold
    title = f'{bold}{{{{ template "kit.title.{language}" . }}}}{plain}{newline}'
    lines = [
        title if form.with_title else "",
        _note(words, "summary", "(index .Alerts 0)"),
        newline,
        _each("Firing", _firing(words, form, zone), words, form),
        "{{ if .Alerts.Firing }}{{ with index .Alerts.Firing 0 }}",
        f"{newline}{bold}{words.cause}{plain}{words.separator}{_note(words, 'cause')}",
        f"{newline}{bold}{words.action}{plain}{words.separator.strip()}\n{_note(words, 'action')}",
        "{{ end }}{{ end }}",
        _each("Resolved", _resolved(language, words, zone), words, form),
        newline,
        _link(form, "{{ (index .Alerts 0).Annotations.runbook_url }}", words.runbook),
        "{{ if .Alerts.Firing }} · ",
        _link(form, _silence_url(), words.silence),
        "{{ end }}",
    ]
    content = "".join(lines)
    if form.name == "html":
        content = f'<div style="white-space: pre-line">{content}</div>'
    return _define(form.name, language, content)


def _note(words: Words, name: str, alert: str = "") -> str:
    """Return an annotation in the words' language, else in English."""
    annotations = f"{alert}.Annotations"
    return (
        f"{{{{ or {annotations}.{name}{words.suffix} {annotations}.{name} }}}}"
        if words.suffix
        else f"{{{{ {annotations}.{name} }}}}"
    )


def _each(status: Literal["Firing", "Resolved"], line: str, words: Words, form: Form) -> str:
    """Return a line for each of the first alerts of a status, and the count of the others."""
    count = f"{{{{ len (slice .Alerts.{status} {form.alerts}) }}}}"
    rest = words.more.format(count=count)
    return (
        f"{{{{ range $at, $alert := .Alerts.{status} }}}}{{{{ if lt $at {form.alerts} }}}}"
        f"{form.newline}{line}{{{{ end }}}}{{{{ end }}}}"
        f"{{{{ if gt (len .Alerts.{status}) {form.alerts} }}}}{form.newline}… {rest}{{{{ end }}}}"
    )


def _firing(words: Words, form: Form, zone: str) -> str:
    link = _link(form, "{{ .Annotations.dashboard_url }}", words.dashboard)
    since = f"{words.since} {_time('.StartsAt', zone)}"
    return f"● {_note(words, 'description')} {since} · {link}"


def _resolved(language: Language, words: Words, zone: str) -> str:
    """The description's figures are those of the last firing, so they are left out."""
    where = f'{{{{ template "kit.where.{language}" .Labels }}}}'
    return (
        f"✓ {words.resolved}{words.separator}{{{{ .Labels.alertname }}}}{where}, "
        f"{words.since} {_time('.StartsAt', zone)}, {words.until} {_time('.EndsAt', zone)}"
    )


def _time(field: str, zone: str) -> str:
    return f'{{{{ {field} | tz "{zone}" | date "{_DATE}" }}}}'


def _link(form: Form, url: str, text: str) -> str:
    return form.link.replace("URL", url).replace("TEXT", text)


def _silence_url() -> str:
    """Return Alertmanager's page for a new silence on all labels that the group shares."""
    pairs = (
        "{{ range $at, $pair := .CommonLabels.SortedPairs }}{{ if $at }}%2C{{ end }}"
        "{{ .Name }}%3D%22{{ .Value | urlquery }}%22{{ end }}"
    )
    return f"{{{{ .ExternalURL }}}}/#/silences/new?filter=%7B{pairs}%7D"
