import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what the exporter shows now into tests/**/golden instead of comparing with it",
    )
