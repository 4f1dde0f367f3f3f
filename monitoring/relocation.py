"""Makes Debian's Alertmanager start where it is only unpacked, not installed.

Debian's build reads its default templates from a fixed folder below ``/usr`` and exits without
them, although no configuration of this kit uses them. There is no flag for it. So a copy of the
program gets another path, of the same length, in that constant's place: one below its working
folder, where a link leads to the templates that were unpacked beside it.
"""

from __future__ import annotations

from pathlib import Path

FIXED = b"/usr/share/prometheus/alertmanager"
LINK = "alertmanager-assets"
_ANYWHERE = f"/proc/self/cwd/{LINK}".encode()
_INSTALLED = Path(FIXED.decode())
_TEMPLATES = Path("share/prometheus/alertmanager")


def needs_relocation(binary: Path, installed: Path = _INSTALLED) -> bool:
    """Tell whether a program is an unpacked one of Debian's, with its templates not installed."""
    return (
        not (installed / "default.tmpl").is_file()
        and (_assets(binary) / "default.tmpl").is_file()
        and FIXED in binary.read_bytes()
    )


def relocate(binary: Path, folder: Path) -> Path:
    """Write a copy of the program that starts with ``folder`` as its working folder.

    Args:
        binary: The program, unpacked as ``…/usr/bin/NAME``.
        folder: Where to put the copy and the link; made if missing.

    Returns:
        The copy.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / LINK
    link.unlink(missing_ok=True)
    link.symlink_to(_assets(binary))
    copy = folder / "alertmanager"
    unfinished = folder / "alertmanager.new"
    unfinished.write_bytes(binary.read_bytes().replace(FIXED, _ANYWHERE))
    unfinished.chmod(0o755)
    unfinished.replace(copy)
    return copy


def _assets(binary: Path) -> Path:
    return binary.resolve().parent.parent / _TEMPLATES
