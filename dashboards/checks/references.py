"""Do the panels exist that alerts and boards point to?"""

from __future__ import annotations

import re
from collections.abc import Iterable

from alerts import catalogue
from alerts.settings import Settings
from dashboards.checks.contents import Json


def findings(boards: Iterable[Json], settings: Settings) -> list[str]:
    """Return alerts and links that point to what is not there."""
    by_uid = {str(board["uid"]): board for board in boards}
    found = []
    for alert in (one for group in catalogue.groups(settings) for one in group.alerts):
        uid, number = alert.panel.dashboard_uid, alert.panel.panel_id
        if uid not in by_uid:
            found.append(f"{alert.name}: there is no board {uid}")
            continue
        if number not in {panel["id"] for panel in by_uid[uid]["panels"]}:
            found.append(f"{alert.name}: board {uid} has no panel {number}")
        variables = {variable["name"] for variable in by_uid[uid]["templating"]["list"]}
        if strangers := set(alert.panel.variables) - variables:
            found.append(f"{alert.name}: board {uid} has no variable {', '.join(strangers)}")
    for uid, board in by_uid.items():
        for target in re.findall(r"'url': '/d/([a-z-]+)\?", str(board)):
            if target not in by_uid:
                found.append(f"{uid}: links to {target}, which is no board")
    return found
