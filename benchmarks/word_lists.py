"""What the old package's word games need that it does not bring: the word lists of NLTK, or something just like them.

It downloads them in each constructor. Here stand lists of as many words, from the dictionaries that gem-games needs
anyway, so that nothing is downloaded: reading hundreds of thousands of lines is what its games spend their time on,
whatever stands in them.
"""

from __future__ import annotations

import gzip
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gem

try:
    import nltk
except ImportError:
    pass
else:
    nltk.download = lambda *_, **__: True

_WORDS, _BASIC = 236_736, 850  # in the lists "en" and "en-basic" of NLTK
_LANGUAGES = ("en", "it", "nl")  # English ones are too few


def write_word_lists(folder: Path) -> None:
    """Fill a folder, to be named in `NLTK_DATA`."""
    spec = find_spec("spellchecker")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("The benchmarks need the word lists of pyspellchecker: install gem-games.")
    resources = Path(spec.submodule_search_locations[0]) / "resources"
    words: dict[str, None] = {}  # a set that keeps its order
    common: list[str] = []
    for language in _LANGUAGES:
        counts: dict[str, int] = json.loads(gzip.decompress((resources / f"{language}.json.gz").read_bytes()))
        plain = [word for word in counts if word.isascii() and word.isalpha() and len(word) > 1]
        words.update(dict.fromkeys(plain))
        common = common or sorted(plain, key=counts.__getitem__)[-_BASIC:]
    if len(words) < _WORDS:
        raise RuntimeError(f"pyspellchecker has {len(words)} words where {_WORDS} are needed: add to _LANGUAGES.")
    place = folder / "corpora" / "words"
    place.mkdir(parents=True)
    for name, lines in (("en", list(words)[:_WORDS]), ("en-basic", common)):
        (place / name).write_text("\n".join(sorted(lines)) + "\n", encoding="utf-8")


def make(id: str, **parameters: Any) -> Any:
    """Make a game of either package; the old one no longer asks the network for its words each time."""
    return gem.make(id, **parameters)
