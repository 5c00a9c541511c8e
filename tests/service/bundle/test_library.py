from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from service.bundle.library import ModelLibrary
from service.errors import NotFoundError
from service.settings import Settings
from service.shipped import shipped_models


@pytest.fixture
def library(tiny_bundle: Path, tmp_path: Path) -> ModelLibrary:
    shutil.copytree(tiny_bundle, tmp_path / "models" / "tiny")
    (tmp_path / "models" / "broken").mkdir()
    (tmp_path / "models" / "broken" / "bundle.json").write_text("{")
    return ModelLibrary(tmp_path)


def test_it_lists_what_can_be_read(library: ModelLibrary) -> None:
    assert [bundle.manifest.name for bundle in library.imported()] == ["tiny"]


def test_a_directory_comes_before_a_name(library: ModelLibrary, tiny_bundle: Path) -> None:
    assert library.find(tiny_bundle) == tiny_bundle
    assert library.find(Path("tiny")) == library.directory / "tiny"
    assert library.find(Path("nothing")) == Path("nothing")
    shipped = shipped_models()[0]
    assert library.find(Path(shipped.name)) == shipped


def test_a_path_that_is_not_there_is_no_name(library: ModelLibrary, tmp_path: Path) -> None:
    """Or a volume that is not mounted would have another model served in silence."""
    name = shipped_models()[0].name
    for path in (tmp_path / "elsewhere" / name, Path("elsewhere") / name, Path("..") / name):
        assert library.find(path) == path
        settings = Settings.model_validate({"data": library.directory.parent, "model": str(path)})
        assert settings.model == [path.resolve()]


def test_settings_take_names(library: ModelLibrary) -> None:
    settings = Settings.model_validate({"data": library.directory.parent, "model": "tiny"})
    assert settings.model == [library.directory / "tiny"]


@pytest.mark.parametrize("name", ["nothing", "../models/tiny", "."])
def test_only_imported_models_are_removed(library: ModelLibrary, name: str) -> None:
    with pytest.raises(NotFoundError, match="there are: tiny"):
        library.remove(name)
    assert library.remove("tiny") == library.directory / "tiny"
    assert not (library.directory / "tiny").exists()
