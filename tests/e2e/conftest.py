"""Fixtures for end-to-end tests: real applications, and MCP clients that browse them."""

from collections.abc import Iterator

import pytest

from tests.support.apps import Django, JupyterLab, django, jupyterlab
from tests.support.packages import npm_packages
from tests.support.site import Site


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


@pytest.fixture(scope="session")
def swagger_files(site: Site) -> str:
    """The URL of the folder of Swagger UI's script and style."""
    modules = npm_packages("swagger", "swagger-ui-dist@5.35.0")
    return site.mount("/swagger-ui-dist", modules / "swagger-ui-dist")


@pytest.fixture(scope="session")
def shoelace_files(site: Site) -> str:
    """The URL of the folder of Shoelace's components, each ready to load."""
    modules = npm_packages("shoelace", "@shoelace-style/shoelace@2.20.1")
    return site.mount("/shoelace", modules / "@shoelace-style" / "shoelace" / "cdn")
