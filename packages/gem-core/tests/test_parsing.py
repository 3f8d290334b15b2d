"""What the parsers find in what a model wrote, and what hostile text costs."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem import parsing
from gem.parsing import MAX_CALL_CHARS, Match, ToolCall

PIECES = [
    "<think>", "</think>", "<answer>", "</answer>", "<Answer>", "<search>", "</search>", "<python>", "</python>",
    "<tool_call>", "</tool_call>", '{"name": "f", "arguments": {}}', '{"name": 1', "[1]", '"', "NaN", "1e999",
    "\\boxed{", "\\boxed", "{", "}", "\\{", "\\", "```", "````", "```python\n", "``` py \r\n",
    "\n", "\r\n", "    ", "x", "\0", "😀",
]  # fmt: skip
hostile_text = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
    | st.sampled_from(["</tool_call>", "<tool_call>", "<think>", "</think>", "a < b", '}""', "\\u003c", "\\boxed{1}"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
json_objects = st.dictionaries(st.text() | st.sampled_from(["</think>", "name"]), json_values, max_size=4)


# --- reasoning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, regions",
    [
        ("Paris", []),
        ("<think>a</think> Paris", ["<think>a</think>"]),
        ("<think> maybe Paris", ["<think> maybe Paris"]),
        ("hm</think> Paris", ["hm</think>"]),
        ("</think>", ["</think>"]),
        ("a<think>b</think>c<think>d</think>e", ["<think>b</think>", "<think>d</think>"]),
        ("<think>a<think>b</think>c", ["<think>a<think>b</think>"]),
        ("<think>a</think>b</think>c", ["<think>a</think>b</think>"]),
        ("a</think>b<think>c", ["a</think>", "<think>c"]),
        ("<Think>a</Think>b", []),
    ],
)
def test_reasoning_spans_cover_closed_open_and_template_opened_regions(text: str, regions: list[str]) -> None:
    assert [text[start:end] for start, end in parsing.reasoning_spans(text)] == regions


@pytest.mark.parametrize(
    "text, left",
    [
        ("Paris", "Paris"),
        ("<think>I know.</think> Paris", "Paris"),
        ("<think>I know, maybe Paris", None),
        ("I know.</think> Paris", "Paris"),
        ("", None),
    ],
)
def test_answer_without_format_is_what_stands_outside_the_reasoning(text: str, left: str | None) -> None:
    assert parsing.extract(text, None) == left


@pytest.mark.parametrize("inside", ["<answer>1</answer>", "\\boxed{1}", "```python\n1\n```", "<search>1</search>"])
def test_reasoning_hides_answers_in_every_format(inside: str) -> None:
    for text in (f"<think>{inside}</think> so", f"<think>{inside}", f"{inside}</think> so"):
        assert parsing.answer(text) is None
        assert parsing.boxed(text) is None
        assert parsing.fenced(text) is None
        assert parsing.tagged(text, "search") == []


def test_reasoning_between_the_tags_of_a_pair_breaks_it() -> None:
    assert parsing.answer("<answer>a<think>b</think>c</answer>") is None
    assert parsing.boxed("\\boxed{a<think>b</think>c}") is None


# --- boxed ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, content",
    [
        ("\\boxed{1} or \\boxed{2}", "2"),
        ("\\boxed{1} or \\boxed{2", "1"),
        ("\\boxed { up }", "up"),
        ("\\boxed\n{a\nb}", "a\nb"),
        ("\\boxed{\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"),
        ("\\boxed{a\\}", None),
        ("\\boxed{a\\\\}", "a\\\\"),
        ("\\boxed{\\boxed{3}}", "3"),
        ("\\boxed{a \\boxed{b}", "b"),
        ("\\boxed{a \\text{b} {c}", None),
        ("{ \\boxed{4}", "4"),
        ("\\boxed{4} { }", "4"),
        ("} \\boxed{4} }", "4"),
        ("\\\\boxed{5}", "5"),
        ("\\boxed{}", ""),
        ("\\boxed{[6 0 Z]}", "[6 0 Z]"),
        ("\\boxed 7", None),
        ("\\boxed{1} \\boxed x {2}", "1"),
        ("\\boxed{1} <think> or \\boxed{2}", "1"),
        ("boxed{1}", None),
        ("", None),
    ],
)
def test_boxed_takes_the_last_complete_box(text: str, content: str | None) -> None:
    assert parsing.boxed(text) == content


def boxed_by_definition(text: str) -> str | None:
    """The definition of a box, written without care for speed."""
    found = None
    for place in range(len(text)):
        if text.startswith("\\boxed", place):
            begin = place + 6
            while begin < len(text) and text[begin].isspace():
                begin += 1
            if text[begin : begin + 1] != "{":
                continue
            depth, end = 0, begin
            while end < len(text):
                escapes = len(text[:end]) - len(text[:end].rstrip("\\"))
                if escapes % 2 == 0 and text[end] in "{}":
                    depth += 1 if text[end] == "{" else -1
                if depth == 0:
                    break
                end += 1
            if end < len(text):
                found = text[begin + 1 : end].strip()
    return found


@given(st.lists(st.sampled_from(["\\boxed", "\\boxed{", "{", "}", "\\", " ", "a"]), max_size=14).map("".join))
def test_boxed_agrees_with_its_definition(text: str) -> None:
    assert parsing.boxed(text) == boxed_by_definition(text)


# --- tags -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, content",
    [
        ("<answer>a</answer><answer>b</answer>", "b"),
        ("<answer> x < 3 & y </answer>", "x < 3 & y"),
        ("</answer>x<answer>y", None),
        ("<Answer>b</Answer>", None),
        ("<think>a</tool><answer>b</answer>", None),
        ("<answer>b</solution>", None),
        ("<answer></answer>", ""),
        ("no tag", None),
    ],
)
def test_answer_is_the_last_complete_tag(text: str, content: str | None) -> None:
    assert parsing.answer(text) == content


def test_tagged_pairs_a_closing_tag_with_the_last_opening_one() -> None:
    text = "I will use <search> tags. <search>real query</search> </search>"
    (match,) = parsing.tagged(text, "search")
    assert match.content == "real query"
    assert text[slice(*match.span)] == "<search>real query</search>"


def test_extract_dispatches_on_the_answer_format() -> None:
    text = "\\boxed{1} <answer>2</answer>\n```\n3\n```"
    assert [parsing.extract(text, name) for name in ("boxed", "answer", "fenced")] == ["1", "2", "3"]
    with pytest.raises(ValueError, match="'xml', but it must be one of 'boxed', 'answer', 'fenced' and None"):
        parsing.extract(text, "xml")


# --- fences -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "opening", ["```python\n", "```Python\n", "```py \n", "``` python3\r\n", "```\n", "Code: ```py\n"]
)
@pytest.mark.parametrize("closing", ["\n```", "\n``` ", "\r\n```\r\nDone.", "\n``` This prints it.", "```", ""])
def test_fenced_reads_every_spelling_of_a_python_block(opening: str, closing: str) -> None:
    assert parsing.fenced(f"{opening}if x:\n    print(1){closing}") == "if x:\n    print(1)"


@pytest.mark.parametrize(
    "text, contents",
    [
        ("```python\n1\n```\nthen\n```cpp\n2\n```", ["1", "2"]),
        ("```python\nprint(1)```\nthen\n```python\nprint(2)\n```", ["print(1)", "print(2)"]),
        ("```python\nnever closed\n\n```python\n2\n```", ["2"]),
        ("```python\nprint('```')\n```", ["print('```')"]),
        ('```py\ndef f():\n    """\n    ```\n    """\n```', ['def f():\n    """\n    ```\n    """']),
        ("1. Do\n   ```py\n   if x:\n       y\n   ```\n", ["if x:\n    y"]),
        ("````md\n```\n1\n```\n````", ["```\n1\n```"]),
        ("inline ```x``` and ```python only", []),
        ("```python\n", [""]),
        ("", []),
    ],
)  # fmt: skip
def test_fenced_blocks_open_and_close_where_a_reader_sees_it(text: str, contents: list[str]) -> None:
    assert [block.content for block in parsing.fenced_blocks(text)] == contents


def test_fenced_ignores_other_languages() -> None:
    text = "```py\n1\n```\n```json\n2\n```"
    assert parsing.fenced(text) == "1"
    assert [block.content for block in parsing.fenced_blocks(text, {"json"})] == ["2"]
    assert parsing.fenced("```json\n2\n```") is None


def test_fenced_block_cut_off_by_reasoning_is_no_answer() -> None:
    assert parsing.fenced("```python\n1\n<think>hm") is None


# --- tool calls -------------------------------------------------------------------------------------------------------


def call_text(body: str) -> str:
    return f"<tool_call>{body}</tool_call>"


def test_tool_calls_finds_all_in_order_each_with_its_own_id() -> None:
    add, mul = '{"name": "add", "arguments": {"a": 3, "b": 4}}', '{"name": "mul", "arguments": {"a": 3, "b": 4}}'
    text = f"<think>{call_text(add)}</think>first {call_text(add)} then {call_text(mul)} and again {call_text(mul)}"
    calls = parsing.tool_calls(text)
    assert [(call.id, call.name) for call in calls] == [("call_0", "add"), ("call_1", "mul"), ("call_2", "mul")]
    assert [text[slice(*call.span)] for call in calls] == [call_text(add), call_text(mul), call_text(mul)]
    assert {call.error for call in calls} == {None}


@pytest.mark.parametrize(
    "body, arguments",
    [
        ('{"name": "f"}', {}),
        ('{"name": "f", "arguments": null}', {}),
        ('{"name": "f", "arguments": {}""}', {}),
        ('{"name": "f", "arguments": {}}""', {}),
        ('{"name": "f", "arguments": "{}\\"\\""}', {}),
        ('{"name": "f", "arguments": ""}', {}),
        ('{"name": "f", "arguments": "{\\"a\\": 1}"}', {"a": 1}),
        ('{"name": "f", "arguments": {"a": null}}', {"a": None}),
        ('\n {"arguments": {"code": "x = 1\n\ty"}, "name": "f"} \n', {"code": "x = 1\n\ty"}),
        ('{"name": "f", "arguments": {"x": "the <tool_call> tag"}}', {"x": "the <tool_call> tag"}),
    ],
)
def test_tool_calls_forgives_what_is_clear(body: str, arguments: dict[str, Any]) -> None:
    (call,) = parsing.tool_calls(call_text(body))
    assert (call.name, call.arguments, call.error) == ("f", arguments, None)


@pytest.mark.parametrize(
    "body, name, error",
    [
        ('{"arguments": {"a": 1}}', "", "has no name"),
        ("{}", "", "has no name"),
        ('{"name": 3}', "", "has no name"),
        ('{"name": ""}', "", "has no name"),
        ('[{"name": "f"}]', "", "is a JSON list, but it must be one object"),
        ("7", "", "is a JSON number"),
        ("null", "", "is a JSON null"),
        ("", "", "is not valid JSON"),
        ("call f please", "", "is not valid JSON"),
        ('{"name": "f"} {"name": "g"}', "", "goes on after its JSON ends"),
        ('{"name": "f", "arguments": {}{}}', "", "is not valid JSON"),
        ('{"name": "f", "arguments": "{}{}"}', "f", "goes on after its JSON ends"),
        ('{"name": "f", "arguments": "{bad"}', "f", "text of arguments is not valid JSON"),
        ('{"name": "f", "arguments": [1]}', "f", "arguments are a JSON list"),
        ('{"name": "f", "arguments": 1}', "f", "arguments are a JSON number"),
        ('{"name": "f", "arguments": {"x": NaN}}', "", "NaN is not JSON"),
        ('{"name": "f", "arguments": {"x": 1e999}}', "", "too large for a float"),
        ('{"name": "f", "arguments": {"x": ' + "1" * 9000 + "}}", "", "too many digits"),
        ('{"name": "f", "arguments": {"x": ' + "[" * 100 + "]" * 100 + "}}", "", "nested too deeply"),
        ('{"name": "f", "arguments": {"x": ' + "[" * 40_000, "", "nested too deeply"),
    ],
)
def test_tool_calls_says_what_is_wrong(body: str, name: str, error: str) -> None:
    (call,) = parsing.tool_calls(call_text(body))
    assert (call.name, call.arguments) == (name, {})
    assert call.error is not None
    assert error in call.error
    assert len(call.error) < 300


def test_tool_calls_refuses_a_huge_call_without_repeating_it() -> None:
    (call,) = parsing.tool_calls(call_text(json.dumps({"name": "f", "arguments": {"x": "y" * 2_000_000}})))
    assert call.arguments == {}
    assert call.error is not None
    assert str(MAX_CALL_CHARS) in call.error
    assert "yy" not in call.error


def test_tool_calls_takes_an_open_block_at_the_end_only_if_it_is_complete() -> None:
    whole, cut = parsing.tool_calls('<tool_call>{"name": "f"}')[0], parsing.tool_calls('<tool_call>{"name": "f"')[0]
    assert (whole.name, whole.error) == ("f", None)
    assert cut.error is not None
    assert "no closing </tool_call>" in cut.error


def test_tool_calls_passes_over_tags_that_are_prose() -> None:
    (call,) = parsing.tool_calls('I use <tool_call> tags: <tool_call>{"name": "f"}</tool_call> so </tool_call>')
    assert (call.name, call.error) == ("f", None)


@given(st.lists(st.tuples(st.text(min_size=1), json_objects), max_size=4))
def test_rendered_tool_calls_read_back_the_same(calls: list[tuple[str, dict[str, Any]]]) -> None:
    as_calls = [ToolCall(f"x{i}", name, arguments, (0, 0)) for i, (name, arguments) in enumerate(calls)]
    as_dicts = [{"id": "x", "function": {"name": name, "arguments": arguments}} for name, arguments in calls]
    as_texts = [{"function": {"name": name, "arguments": json.dumps(arguments)}} for name, arguments in calls]
    for given_calls in (as_calls, as_dicts, as_texts):
        text = parsing.render_tool_calls(given_calls)
        read = parsing.tool_calls(f"before {text} after")
        assert [(call.name, call.arguments, call.error) for call in read] == [(*call, None) for call in calls]
        assert parsing.reasoning_spans(text) == []


def test_rendered_native_call_with_broken_arguments_reads_back_as_an_error() -> None:
    (call,) = parsing.tool_calls(parsing.render_tool_calls([{"function": {"name": "f", "arguments": "{bad"}}]))
    assert call.name == "f"
    assert call.error is not None


# --- any text ---------------------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, Callable[[str], Any]] = {
    "reasoning_spans": parsing.reasoning_spans,
    "without_reasoning": parsing.without_reasoning,
    "boxed": parsing.boxed,
    "answer": parsing.answer,
    "tagged": lambda text: parsing.tagged(text, "search"),
    "fenced": parsing.fenced,
    "fenced_blocks": parsing.fenced_blocks,
    "tool_calls": parsing.tool_calls,
}


@given(hostile_text)
def test_spans_lie_on_the_constructs_they_name_whatever_the_text(text: str) -> None:
    for function in FUNCTIONS.values():
        function(text)
    regions = parsing.reasoning_spans(text)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(regions))

    def check(found: list[Match] | list[ToolCall], opening: str, closing: str | None) -> None:
        for match in found:
            start, end = match.span
            assert text.startswith(opening, start)
            assert closing is None or text.endswith(closing, start, end)
            assert all(end <= region[0] or start >= region[1] for region in regions)

    for tag in ("answer", "search", "python"):
        check(parsing.tagged(text, tag), f"<{tag}>", f"</{tag}>")
    check(parsing.fenced_blocks(text), "```", None)
    calls = parsing.tool_calls(text)
    check(calls, "<tool_call>", None)
    assert [call.id for call in calls] == [f"call_{number}" for number in range(len(calls))]


BOMBS = [
    "<think>", "</think>", "<answer>", "</answer>", "<search>", "<tool_call>", "</tool_call>", "<tool_call>{",
    '<tool_call>"', "\\boxed{", "\\boxed {1 ", "\\boxed", "\\", "{", "}", "```python\n", "```python ", "```a", "```",
    "``` ", "\n",
]  # fmt: skip
SHAPES = {
    "blanks in a box": "\\boxed{A" + " " * 200_000,
    "blanks before a brace": "\\boxed" + " " * 200_000 + "x",
    "boxes and one brace": "\\boxed{" * 200_000 + "}",
    "balanced boxes": "\\boxed{" * 200_000 + "}" * 200_000,
    "braces that close nothing": "\\boxed {" + "}" * 200_000,
    "braces never boxed": "\\boxed {" + "{" * 100_000 + "}" * 100_001 + "x}",
    "a long tag": "```" + "a" * 200_000,
    "blanks after a fence": "```" + " " * 200_000 + "x y",
    "fences inside a line": "```py\n" + "``` x" * 200_000,
    "fences that open nothing": "\n```a`b" * 50_000,
    "blocks": "```\n" * 40_000,
    "prose after short fences": "````py\n" + "\n``` x y" * 30_000,
    "prose and ends after short fences": "````py\n" + "\n``` x y ```" * 20_000,
    "fences inside the code": "```py\n" + "\n      ```" * 50_000,
    "nested lists in a call": "<tool_call>" + "[" * 90_000 + "</tool_call>",
}


@pytest.mark.no_cover  # tracing costs more than all that is measured
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("text", [bomb * 200_000 for bomb in BOMBS] + list(SHAPES.values()), ids=[*BOMBS, *SHAPES])
def test_cost_is_linear_in_hostile_text(text: str, name: str) -> None:
    begin = time.process_time()
    FUNCTIONS[name](text)
    assert time.process_time() - begin < 2.5  # anything worse than linear takes a minute
