"""What the tests of all packages share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder with real data: `GEM_TEST_DATA`, by default `shared/data` beside the repository."""
    folder = Path(os.environ.get("GEM_TEST_DATA") or Path(__file__).parent.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"needs the real data, which is not at {folder}: set GEM_TEST_DATA to its folder")
    return folder
