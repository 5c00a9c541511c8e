"""The models of a data directory: what was imported, and names in place of directories."""

from __future__ import annotations

import shutil
from pathlib import Path

from service.bundle.reader import MANIFEST_FILE, Bundle, read_bundle
from service.errors import BundleError, NotFoundError
from service.shipped import shipped_models

FOLDER = "models"
"""Under the data directory."""


class ModelLibrary:
    """The models in a data directory, each in a folder of its name, and the shipped ones.

    Args:
        data: The data directory; it need not be there yet.
    """

    def __init__(self, data: Path) -> None:
        self.directory = data / FOLDER

    def place(self, name: str) -> Path:
        """Return where a model called `name` belongs."""
        return self.directory / name

    def imported(self) -> list[Bundle]:
        """Return the models that were imported, by name; those that cannot be read are left out."""
        found = []
        for path in sorted(self.directory.glob(f"*/{MANIFEST_FILE}")):
            try:
                found.append(read_bundle(path.parent, verify=False))
            except BundleError:
                continue
        return found

    def find(self, model: Path) -> Path:
        """Return the directory of `model`: a directory, or the name of a model that is known.

        A path that is neither is given back as it is, for its reader to say what is wrong with it.
        """
        if model.exists() or len(model.parts) > 1:
            return model
        return self.named(model.name) or model

    def named(self, name: str) -> Path | None:
        """Return the directory of the imported or shipped model called `name`, if there is one."""
        imported = self.place(name)
        if (imported / MANIFEST_FILE).exists():
            return imported
        return next((path for path in shipped_models() if path.name == name), None)

    def remove(self, name: str) -> Path:
        """Delete the imported model called `name` and return where it was.

        Raises:
            NotFoundError: None of this name was imported.
        """
        directory = self.place(name)
        if "/" in name or not (directory / MANIFEST_FILE).exists():
            known = ", ".join(bundle.manifest.name for bundle in self.imported()) or "none"
            raise NotFoundError(
                f"No imported model has this name; there are: {known}.",
                field="name",
                given=name,
                remedy="Only imported models can be removed: interlingua models list.",
            )
        shutil.rmtree(directory)
        return directory
