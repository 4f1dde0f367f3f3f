"""Grafana's HTTP API, as far as boards need it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import requests
from urllib3.exceptions import HTTPError  # not all of them are wrapped by requests

from alerts.request import Reply, TooLargeError, send

SECONDS = 15.0
"""When each of Grafana's answers must be there."""


class GrafanaError(Exception):
    """Grafana did not do it; the message is one line that says what to do."""


class _Bearer(requests.auth.AuthBase):
    """Shows a token; a plain header would give way to a password in the user's .netrc."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class Grafana:
    """One Grafana, with a service account's token.

    Attributes:
        url: Where it is, without a slash at the end; may have a path.
    """

    def __init__(self, url: str, token: str, seconds: float = SECONDS) -> None:
        """Take where it is, the token, and when each answer must be there."""
        self.url = url.rstrip("/")
        self._seconds = seconds
        self._session = requests.Session()
        self._session.auth = _Bearer(token)

    def ensure_folder(self, uid: str, title: str) -> bool:
        """Make the folder unless it is there; return whether it was made.

        Raises:
            GrafanaError: Grafana cannot be reached, or refuses.
        """
        found = self._ask("GET", f"/api/folders/{quote(uid, safe='')}")
        if found.status == HTTPStatus.OK:
            return False
        if found.status != HTTPStatus.NOT_FOUND:
            raise GrafanaError(self._reason(found))
        made = self._ask("POST", "/api/folders", {"uid": uid, "title": title})
        if made.status != HTTPStatus.OK:
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
        if answer.status != HTTPStatus.OK:
            raise GrafanaError(self._reason(answer))
        try:
            path = str(answer.json()["url"])
        except (ValueError, KeyError, TypeError):
            raise GrafanaError(f"{self.url}: what answers there is not Grafana") from None
        return f"{self.url}/{path.lstrip('/')}"

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Reply:
        try:
            return send(self._session, method, self.url + path, self._seconds, body)
        except requests.Timeout:
            raise GrafanaError(
                f"{self.url}: no complete answer within {self._seconds:g} s"
            ) from None
        except TooLargeError:
            raise GrafanaError(
                f"{self.url}: what answers there is not Grafana (more than 128 KiB)"
            ) from None
        except requests.exceptions.SSLError:
            raise GrafanaError(
                f"{self.url}: its certificate is not trusted; name its CA's file in "
                "REQUESTS_CA_BUNDLE"
            ) from None
        except (requests.RequestException, HTTPError) as error:
            raise GrafanaError(
                f"{self.url}: cannot be reached ({type(error).__name__}); is Grafana there?"
            ) from None

    def _reason(self, answer: Reply) -> str:
        status = answer.status
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


def _message(answer: Reply) -> str:
    """Return what Grafana says of an error, in one line; empty where Grafana does not speak."""
    try:
        said = answer.json()["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return " ".join(str(said).split())[:200]
