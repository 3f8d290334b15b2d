"""Which package has what, for the error of whoever asks for it before it is installed. Data, and one lookup."""

from __future__ import annotations

from fnmatch import fnmatchcase

__all__ = ["KNOWN", "package_of"]

_SEARCH_SETS = ("2Wiki", "PopQA", "TriviaQA", "HotpotQA", "Bamboogle", "NaturalQuestions", "Musique", "QaOpen")
_MATH_SETS = ("AIME24", "AMC", "MATH500", "Minerva", "OlympiadBench")

KNOWN: dict[str, tuple[tuple[str, str], ...]] = {
    "environment": (
        ("game:*", "gem-games"),
        ("duel:*", "gem-games"),
        ("math:*", "gem-math"),
        ("rg:*", "gem-math"),
        ("code:*", "gem-tools"),
        ("qa:*", "gem-search"),
        ("logic:*", "gem-search"),
        ("eval:CodeContest*", "gem-tools"),
        *((f"eval:{name}*", "gem-math") for name in _MATH_SETS),
        *((f"eval:{name}*", "gem-search") for name in _SEARCH_SETS),
    ),
    "wrapper": (("python_tool*", "gem-tools"), ("search_tool*", "gem-search")),
    "tool": (("python_code", "gem-tools"), ("mcp", "gem-tools"), ("search", "gem-search")),
    "sandbox": (("*", "gem-tools"),),
    "component": (
        ("retriever:*", "gem-search"),
        ("search_provider:*", "gem-search"),
        ("grader:math*", "gem-math"),
        ("agent:*", "gem-rollout"),
        ("engine:*", "gem-rollout"),
        ("trainer_adapter:*", "gem-rollout"),
    ),
}
"""By kind of thing: patterns of names, and the distribution that has them. The first that fits counts."""


def package_of(noun: str, key: str) -> str | None:
    """Return the distribution known to have a thing, or None.

    Args:
        noun: What it is: "environment", "wrapper", "tool", "sandbox" or "component".
        key: Its id or name; capitals, `-` and `_` make no difference.
    """
    folded = key.strip().lower().replace("-", "_")
    for pattern, package in KNOWN.get(noun, ()):
        if fnmatchcase(folded, pattern.lower().replace("-", "_")):
            return package
    return None
