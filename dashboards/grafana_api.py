"""Grafana's HTTP API, as far as boards need it."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import requests

_SECONDS = 15.0


class GrafanaError(Exception):
    """Grafana did not do it; the message is one line that says what to do."""


class Grafana:
    """One Grafana, with a service account's token.

    Attributes:
        url: Where it is, without a slash at the end; may have a path.
    """

    def __init__(
        self, url: str, token: str, session: Callable[[], requests.Session] = requests.Session
    ) -> None:
        self.url = url.rstrip("/")
        self._session = session()
        self._session.headers["Authorization"] = f"Bearer {token}"

    def ensure_folder(self, uid: str, title: str) -> bool:
        """Make the folder unless it is there; return whether it was made.

        Raises:
            GrafanaError: Grafana cannot be reached, or refuses.
        """
        found = self._ask("GET", f"/api/folders/{quote(uid, safe='')}")
        if found.status_code == HTTPStatus.OK:
            return False
        if found.status_code != HTTPStatus.NOT_FOUND:
            raise GrafanaError(self._reason(found))
        made = self._ask("POST", "/api/folders", {"uid": uid, "title": title})
        if made.status_code != HTTPStatus.OK:
            raise GrafanaError(self._reason(made))
        return True

    def upload(self, board: dict[str, Any], folder_uid: str) -> str:
        """Put a board into the folder, over an older version of it, and return its URL.

        Raises:
            GrafanaError: Grafana cannot be reached, or refuses.
        """
        body = {
            "dashboard": board | {"id": None},
            "folderUid": folder_uid,
            "overwrite": True,
            "message": "vllm-monitoring-kit",
        }
        answer = self._ask("POST", "/api/dashboards/db", body)
        if answer.status_code != HTTPStatus.OK:
            raise GrafanaError(self._reason(answer))
        try:
            path = str(answer.json()["url"])
        except (ValueError, KeyError, TypeError):
            raise GrafanaError(f"{self.url}: what answers there is not Grafana") from None
        return f"{self.url}/{path.lstrip('/')}"

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> requests.Response:
        try:
            # A redirect would turn POST into GET, and might carry the token elsewhere.
            return self._session.request(
                method, self.url + path, json=body, timeout=_SECONDS, allow_redirects=False
            )
        except requests.Timeout:
            raise GrafanaError(f"{self.url}: no answer within {_SECONDS:g} s") from None
        except requests.exceptions.SSLError:
            raise GrafanaError(
                f"{self.url}: its certificate is not trusted; name its CA's file in "
                "REQUESTS_CA_BUNDLE"
            ) from None
        except requests.RequestException as error:
            raise GrafanaError(
                f"{self.url}: cannot be reached ({type(error).__name__}); is Grafana there?"
            ) from None

    def _reason(self, answer: requests.Response) -> str:
        status = answer.status_code
        if status == HTTPStatus.UNAUTHORIZED:
            return f"{self.url}: the token is refused; make one for a service account there"
        if status == HTTPStatus.FORBIDDEN and not _message(answer):
            return (
                f"{self.url}: status 403, and not from Grafana: is the URL Grafana's (the kit's "
                "preview takes no boards), or does a proxy refuse?"
            )
        if status == HTTPStatus.FORBIDDEN:
            return f"{self.url}: the token may not do this; its service account needs role Editor"
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            return f"{self.url}: redirects to {answer.headers.get('Location', '?')}; give that URL"
        if status == HTTPStatus.NOT_FOUND:
            return f"{self.url}: no Grafana there (404); does the URL lack a path?"
        said = _message(answer) or answer.reason or "no reason given"
        return f"{self.url}: status {status}: {said}"


def _message(answer: requests.Response) -> str:
    """Return what Grafana says of an error, in one line; empty where Grafana does not speak."""
    try:
        said = answer.json()["message"]
    except (ValueError, KeyError, TypeError):
        return ""
    return " ".join(str(said).split())[:200]
