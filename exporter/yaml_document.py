"""A YAML file of which every value still knows its line, so that errors can name it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from exporter.files import read_file

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the top to a value."""

_SHOWN_CHARACTERS = 40
_MOST_BITS = 64


class DocumentError(Exception):
    """The file cannot be used. The message is one line with file, line and key."""

    def __init__(self, message: str) -> None:
        """Take the message; keys and names in it may have been of several lines."""
        super().__init__(
            "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in message)
        )


class Document:
    """The values of one file with the lines they stand on."""

    def __init__(self, name: str, root: Any, lines: dict[KeyPath, int]) -> None:
        """Take the file's name, its top-level value, and line numbers from 1 by key path."""
        self.name = name
        self._root = root
        self._lines = lines

    def line(self, path: KeyPath) -> int:
        """Return the line of the value at ``path``, or of the nearest thing that holds it."""
        while path not in self._lines and path:
            path = path[:-1]
        return self._lines.get(path, 1)

    def has(self, path: KeyPath) -> bool:
        """Tell whether there is something at ``path``, if only null."""
        return path in self._lines

    def value(self, path: KeyPath) -> Any:
        """Return the value at ``path``; None where there is none."""
        value = self._root
        for key in path:
            if isinstance(value, dict):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and key < len(value):
                value = value[key]
            else:
                return None
        return value

    def mapping(self, path: KeyPath) -> dict[str, Any]:
        """Return the mapping at ``path``, empty where there is none; else a `FaultError`."""
        value = self.value(path)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise FaultError(self, path, "must be a mapping of keys to values")
        for key in value:
            if not isinstance(key, str):
                raise FaultError(self, (*path, key), "must be text: put it in quotes")
        return value

    def only(self, path: KeyPath, known: frozenset[str]) -> None:
        """Raise a `FaultError` if the mapping at ``path`` has a key that is not ``known``."""
        for key in self.mapping(path):
            if key not in known:
                choices = ", ".join(sorted(known))
                raise FaultError(self, (*path, key), f"is not known here: one of {choices}")

    def string(self, path: KeyPath) -> str | None:
        """Return the text at ``path``, None where there is none; else a `FaultError`."""
        value = self.value(path)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)  # 0 for a duration, a number for a user name: meant as text
        raise FaultError(self, path, "must be text")

    def boolean(self, path: KeyPath) -> bool | None:
        """Return the truth value at ``path``, None where there is none; else a `FaultError`."""
        value = self.value(path)
        if value is None or isinstance(value, bool):
            return value
        raise FaultError(self, path, "must be true or false")

    def integer(self, path: KeyPath, at_least: int, default: int) -> int:
        """Return the whole number at ``path``, or ``default``; else a `FaultError`."""
        value = self.value(path)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
            raise FaultError(self, path, f"must be a whole number of at least {at_least}")
        return value

    def strings(self, path: KeyPath) -> list[str]:
        """Return the list of texts at ``path``, empty where there is none; else a `FaultError`."""
        value = self.value(path)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise FaultError(self, path, "must be a list of texts")
        return value


class FaultError(DocumentError):
    """One value of a document is wrong."""

    def __init__(self, document: Document, path: KeyPath, problem: str) -> None:
        """Take where it is and what is the matter, as the end of a sentence with the key."""
        key = ".".join(str(part) for part in path)
        where = f"{document.name}: line {document.line(path)}"
        super().__init__(f"{where}: {key} {problem}" if key else f"{where}: {problem}")


def read_document(path: Path) -> Document:
    """Return the document in ``path``.

    Raises:
        DocumentError: The file cannot be read, or is no YAML mapping, or has a key twice.
    """
    try:
        content = read_file(path)
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        node = yaml.compose(content.decode("utf-8"), Loader=_Loader)
        lines: dict[KeyPath, int] = {}
        root = _construct(node, (), lines, str(path)) if node else {}
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: is no UTF-8 text") from error
    except yaml.YAMLError as error:
        raise DocumentError(f"{path}: {_yaml_problem(error)}") from error
    except RecursionError as error:
        raise DocumentError(f"{path}: is nested too deeply") from error
    document = Document(str(path), {} if root is None else root, lines)
    if not isinstance(document.value(()), dict):
        raise FaultError(document, (), "the file must be a mapping of keys to values")
    return document


class _Loader(yaml.SafeLoader):
    """YAML without aliases.

    Settings need none, and a few lines of them can stand for more values than there is memory.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="aliases (*) are not read", problem_mark=mark)
        return super().compose_node(parent, index)


def _construct(node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int], name: str) -> Any:
    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        mapping: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = _scalar(key_node, name)
            if key in mapping:
                raise DocumentError(
                    f"{name}: line {key_node.start_mark.line + 1}: {key} is there twice"
                )
            mapping[key] = _construct(value_node, (*path, key), lines, name)
            lines[(*path, key)] = key_node.start_mark.line + 1
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [
            _construct(entry, (*path, position), lines, name)
            for position, entry in enumerate(node.value)
        ]
    return _scalar(node, name)


def _scalar(node: yaml.Node, name: str) -> Any:
    if not isinstance(node, yaml.ScalarNode):
        raise DocumentError(f"{name}: line {node.start_mark.line + 1}: a key must be plain text")
    where = f"{name}: line {node.start_mark.line + 1}"
    loader = yaml.SafeLoader("")
    try:
        value = loader.construct_object(node)
    except yaml.YAMLError as error:
        raise DocumentError(f"{where}: {str(error).splitlines()[0]}") from error
    except (ValueError, LookupError, AttributeError) as error:
        # What PyYAML's own constructors raise for `2024-13-45`, `!!int ''` or `!!bool x`.
        shown = node.value[:_SHOWN_CHARACTERS]
        raise DocumentError(f"{where}: {shown!r} is no value: put text in quotes") from error
    finally:
        loader.dispose()
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise DocumentError(f"{where}: a number of so many digits cannot be meant")
    return value


def _yaml_problem(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"line {mark.line + 1}: {problem}" if mark else str(problem)
