"""What the tests of all packages share."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# What splits text before the byte pairs are merged, and what follows the 151,643 ranks (Qwen2, 2.5 and 3).
QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN_SPECIAL_TOKENS = (
    "<|endoftext|> <|im_start|> <|im_end|> <|object_ref_start|> <|object_ref_end|> <|box_start|> <|box_end|> "
    "<|quad_start|> <|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|> <|image_pad|> <|video_pad|>"
)
QWEN_ADDED_TOKENS = (
    "<tool_call> </tool_call> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <|repo_name|> <|file_sep|> "
    "<tool_response> </tool_response> <think> </think>"
)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder with real data: `GEM_TEST_DATA`, by default `shared/data` beside the repository."""
    folder = Path(os.environ.get("GEM_TEST_DATA") or Path(__file__).parent.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"needs the real data, which is not at {folder}: set GEM_TEST_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def qwen_tokenizer(data_folder: Path, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the tokenizer of Qwen3 with its chat template; built once in about 12 s, then kept in pytest's cache."""
    transformers = pytest.importorskip("transformers")
    cache = getattr(pytestconfig, "cache", None)  # absent under `-p no:cacheprovider`
    folder = tmp_path_factory.mktemp("qwen_tokenizer") if cache is None else cache.mkdir("qwen_tokenizer")
    file = folder / "tokenizer.json"
    if not file.exists():
        tokenizers = pytest.importorskip("tokenizers")
        converter = pytest.importorskip("transformers.convert_slow_tokenizer").TikTokenConverter(
            vocab_file=str(data_folder / "tokenizers" / "qwen.tiktoken"),
            pattern=QWEN_PATTERN,
            extra_special_tokens=QWEN_SPECIAL_TOKENS.split(),
        )
        built = converter.converted()
        built.normalizer = tokenizers.normalizers.NFC()
        built.add_tokens([tokenizers.AddedToken(t, normalized=False, special=False) for t in QWEN_ADDED_TOKENS.split()])
        part = file.with_name(f"{os.getpid()}.json")  # several pytest processes may build at once
        built.save(str(part))
        part.replace(file)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(file),
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=(data_folder / "chat_templates" / "qwen3.jinja").read_text(encoding="utf-8"),
    )


@pytest.fixture(scope="session")
def template_tokenizers(data_folder: Path) -> Callable[[], dict[str, Any]]:
    """Return what makes a tokenizer with each of the real chat templates, by the template's name."""
    transformers = pytest.importorskip("transformers")
    whole = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(data_folder / "tokenizers" / "gpt2_tokenizer.json"), bos_token="<s>", eos_token="</s>"
    )

    def make() -> dict[str, Any]:
        tokenizers = {}
        for path in sorted((data_folder / "chat_templates").glob("*.jinja")):
            tokenizers[path.stem] = copy.copy(whole)
            tokenizers[path.stem].chat_template = path.read_text(encoding="utf-8")
        return tokenizers

    return make
