"""Fixtures for end-to-end tests: real applications, and MCP clients that browse them."""

from collections.abc import Iterator

import pytest

from tests.support.apps import Django, JupyterLab, django, jupyterlab


@pytest.fixture(scope="session")
def django_admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Django]:
    """Django's admin site with a superuser."""
    with django(tmp_path_factory.mktemp("django")) as app:
        yield app


@pytest.fixture(scope="session")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterLab]:
    """JupyterLab with no notebook yet."""
    with jupyterlab(tmp_path_factory.mktemp("jupyter")) as app:
        yield app
