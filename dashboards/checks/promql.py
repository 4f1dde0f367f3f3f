"""What an expression asks for and which labels its result has. Needs promql-parser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import promql_parser as parser

Labels = Mapping[str, frozenset[str]]
"""Labels of each series, by its name."""

_SET_OPERATORS = {"and", "unless"}
_NO_ARGUMENT = (parser.NumberLiteral, parser.StringLiteral)


def selectors(text: str) -> list[parser.VectorSelector]:
    """Return all selectors of an expression.

    Raises:
        ValueError: If it does not parse; the message says why.
    """
    nodes: list[parser.Expr] = []
    parser.walk(parser.parse(text), pre_visit=nodes.append)
    return [node for node in nodes if isinstance(node, parser.VectorSelector)]


def matchers(selector: parser.VectorSelector) -> dict[str, tuple[str, str]]:
    """Return operator (``Re``, ``Equal``, …) and value of each matcher, by label."""
    found = selector.matchers.matchers
    return {one.name: (str(one.op).removeprefix("MatchOp."), one.value) for one in found}


def answerable(text: str, exists: Callable[[str], bool]) -> bool:
    """Tell whether an expression can have a result where only some series exist."""
    return _answerable(parser.parse(text), exists)


def _answerable(node: parser.Expr, exists: Callable[[str], bool]) -> bool:
    if isinstance(node, parser.VectorSelector):
        return node.name is None or exists(str(node.name))
    if isinstance(node, parser.BinaryExpr):
        left, right = _answerable(node.lhs, exists), _answerable(node.rhs, exists)
        if str(node.op) == "or":
            return left or right
        return left if str(node.op) == "unless" else left and right
    return all(_answerable(child, exists) for child in _children(node))


def _children(node: parser.Expr) -> Iterator[parser.Expr]:
    if isinstance(node, parser.MatrixSelector):
        yield node.vector_selector
    elif isinstance(node, parser.Call):
        yield from (one for one in node.args if not isinstance(one, _NO_ARGUMENT))
    elif isinstance(node, parser.AggregateExpr | parser.ParenExpr):
        yield node.expr
    elif not isinstance(node, _NO_ARGUMENT):
        raise TypeError(f"{type(node).__name__} is new to the checks")


def result_labels(text: str, labels: Labels) -> frozenset[str]:
    """Return the labels that the result of an expression can have.

    Raises:
        KeyError: A series has no entry in ``labels``.
    """
    return _labels(parser.parse(text), labels)


def _labels(node: parser.Expr, labels: Labels) -> frozenset[str]:
    if isinstance(node, parser.VectorSelector):
        return frozenset().union(*labels.values()) if node.name is None else labels[str(node.name)]
    if isinstance(node, parser.BinaryExpr):
        return _of_binary(node, labels)
    inner = frozenset[str]().union(*(_labels(child, labels) for child in _children(node)))
    if isinstance(node, parser.AggregateExpr):
        # A label that is not there cannot be kept.
        return inner & frozenset(node.modifier.labels) if node.modifier else frozenset()
    if isinstance(node, parser.Call) and node.func.name == "label_replace":
        return inner | {node.args[1].val}
    if isinstance(node, parser.Call) and node.func.name == "histogram_quantile":
        return inner - {"le"}
    return inner


def _of_binary(node: parser.BinaryExpr, labels: Labels) -> frozenset[str]:
    left = frozenset() if isinstance(node.lhs, _NO_ARGUMENT) else _labels(node.lhs, labels)
    right = frozenset() if isinstance(node.rhs, _NO_ARGUMENT) else _labels(node.rhs, labels)
    operator = str(node.op)
    with_number = isinstance(node.lhs, _NO_ARGUMENT) or isinstance(node.rhs, _NO_ARGUMENT)
    if operator == "or" or with_number:
        return left | right
    if operator in _SET_OPERATORS:
        return left
    modifier = node.modifier
    if modifier is None:
        return left & right
    added = frozenset(modifier.group_labels or ())
    card = str(modifier.card).rpartition(".")[2]
    if card == "ManyToOne":
        return left | added
    if card == "OneToMany":
        return right | added
    on = frozenset(modifier.matching.labels) if modifier.matching else left & right
    return on & left & right
