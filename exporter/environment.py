"""Environment variables that stand for flags."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

PREFIX = "VLLM_EXPORTER"

# Kubernetes sets these in every container of a namespace with a service called vllm-exporter….
_OF_SERVICES = re.compile(r"_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)$")


def unknown_variable(environment: Mapping[str, str], flags: Iterable[str]) -> str:
    """Return one line on the first variable with the prefix that stands for no flag.

    Args:
        environment: Variables by name.
        flags: Names of the flags with underscores.

    Returns:
        Empty if there is none.
    """
    known = [flag.upper() for flag in flags]
    for name in sorted(environment):
        flag = name.removeprefix(f"{PREFIX}_")
        if flag != name and flag not in known and not _OF_SERVICES.search(name):
            near = difflib.get_close_matches(flag, known, n=1)
            hint = f": did you mean {PREFIX}_{near[0]}?" if near else ""
            return f"no flag for the environment variable {name}{hint}"
    return ""
