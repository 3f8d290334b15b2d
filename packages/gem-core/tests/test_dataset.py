from __future__ import annotations

import asyncio
import gc
import json
import logging
import pickle
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem.dataset_sources
from gem.dataset import DatasetEnv, _shuffled
from gem.errors import DatasetError, Fault, MissingDependency, ResetNeeded
from gem.parsing import extract
from gem.wrappers.observation import ConcatWithAction

ROWS = [{"problem": f"What is {i} + {i}?", "answer": str(2 * i)} for i in range(10)]


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


def epoch(env: DatasetEnv, count: int, **first: Any) -> list[int]:
    """Play `count` episodes and return their rows; only the first reset gets arguments."""
    return [env.reset(**(first if turn == 0 else {}))[1]["task_id"] for turn in range(count)]


# --- one episode ------------------------------------------------------------------------------------------------------


def test_an_episode_is_one_question_and_its_graded_answer() -> None:
    env = DatasetEnv(ROWS)
    observation, info = env.reset(seed=3, idx=4)
    assert observation.startswith("What is 4 + 4?\n\n")
    assert "\\boxed{}" in observation
    assert info == {"seed": 3, "env_id": "DatasetEnv", "task_id": 4}
    assert env.step("It is \\boxed{ 8 }") == ("", 1.0, True, False, {"success": True, "correct": True})


@pytest.mark.parametrize("action", ["\\boxed{9}", "8", "", "\\boxed{}", "<think>\\boxed{8}", "\\boxed{8.}"])
def test_a_wrong_or_missing_answer_is_zero_and_ends_the_episode(action: str) -> None:
    env = DatasetEnv(ROWS)
    env.reset(idx=4)
    assert env.step(action)[1:] == (0.0, True, False, {"success": False, "correct": False})


@pytest.mark.parametrize("instruction", ["Answer in tags, like <answer>Oslo</answer>.", "Answer in tags."])
def test_an_example_in_the_instruction_is_never_the_answer(instruction: str) -> None:
    """SRCH-01: the reply alone is read, whatever wraps the prompt."""
    rows = [{"problem": "Which capital?", "answer": city} for city in ("Oslo", "Lima")]
    env = ConcatWithAction(DatasetEnv(rows, answer_format="answer", instruction=instruction))
    for idx, action, reward in ((1, "<answer>Lima</answer>", 1.0), (0, "I do not know.", 0.0), (0, "Oslo", 0.0)):
        env.reset(idx=idx)
        assert env.step(action)[1] == reward


@pytest.mark.parametrize("answer_format", ["boxed", "answer", "fenced", None])
def test_the_oracle_answers_right_in_every_format(answer_format: str | None) -> None:
    env = DatasetEnv(ROWS, answer_format=answer_format)
    for index in range(len(ROWS)):
        env.reset(idx=index)
        action = env.oracle_action()
        assert action is not None
        assert env.step(action)[1] == 1.0


@pytest.mark.parametrize("answer_format", ["boxed", "answer", "fenced"])
def test_the_default_instruction_shows_an_example_that_parses(answer_format: str) -> None:
    observation, _ = DatasetEnv(ROWS, answer_format=answer_format).reset(seed=0)
    assert extract(observation, answer_format) is not None


def test_sampled_actions_are_well_formed() -> None:
    env = DatasetEnv(ROWS, answer_format="answer")
    env.reset(seed=0)
    assert extract(env.sample_random_action(), "answer") is not None


def test_any_of_several_answers_counts() -> None:
    env = DatasetEnv(
        [{"q": "Who?", "a": ["Ann", " Bob ", 3]}], question_key="q", answer_key="a", answer_format="answer"
    )
    for answer, reward in (("Ann", 1.0), ("Bob", 1.0), ("3", 1.0), ("Eve", 0.0)):
        env.reset()
        assert env.step(f"<answer>{answer}</answer>")[1] == reward


def test_numbers_are_compared_as_text() -> None:
    env = DatasetEnv([{"problem": "?", "answer": 7}])
    env.reset()
    assert env.step("\\boxed{7}")[1] == 1.0


@pytest.mark.parametrize("gold", ["", "  ", [], [""]])
def test_an_empty_gold_answer_is_a_fault_and_never_a_reward(gold: Any) -> None:
    env = DatasetEnv([{"problem": "?", "answer": gold}])
    env.reset()
    with pytest.raises(Fault, match=r"grader: Row 0 of the given list has an empty answer"):
        env.step("\\boxed{}")


def test_the_oracle_gives_up_where_the_format_cannot_hold_the_answer() -> None:
    env = DatasetEnv([{"problem": "?", "answer": "}{"}])
    env.reset()
    assert env.oracle_action() is None


def test_the_answer_is_nowhere_before_the_end() -> None:
    env = DatasetEnv([{"problem": "Secret?", "answer": "xyzzy", "note": "plugh"}])
    assert "xyzzy" not in repr((env, *env.reset(seed=1)))
    assert "plugh" not in repr(env.reset(seed=1))


def test_an_instruction_replaces_the_default_and_an_empty_one_says_nothing() -> None:
    assert DatasetEnv(ROWS, instruction="Box it.").reset(idx=0)[0] == "What is 0 + 0?\n\nBox it."
    assert DatasetEnv(ROWS, instruction="").reset(idx=0)[0] == "What is 0 + 0?"


def test_a_step_before_the_first_reset_says_so() -> None:
    with pytest.raises(ResetNeeded, match="before reset"):
        DatasetEnv(ROWS).step("x")


# --- which row --------------------------------------------------------------------------------------------------------


def test_each_row_comes_once_per_epoch_and_each_epoch_has_its_own_order() -> None:
    order = epoch(DatasetEnv(ROWS), 20, seed=5)
    assert sorted(order[:10]) == sorted(order[10:]) == list(range(10))
    assert order[:10] != order[10:]
    assert order[:10] != list(range(10))


def test_an_unseeded_env_goes_through_the_rows_too() -> None:
    assert sorted(epoch(DatasetEnv(ROWS), 10)) == list(range(10))


def test_a_seed_fixes_the_episode_and_what_later_resets_give() -> None:
    assert epoch(DatasetEnv(ROWS), 25, seed=5) == epoch(DatasetEnv(ROWS), 25, seed=5)
    used = DatasetEnv(ROWS)
    epoch(used, 7, seed=1)
    assert epoch(used, 12, seed=5) == epoch(DatasetEnv(ROWS), 12, seed=5)


def test_seeds_draw_all_rows() -> None:
    env = DatasetEnv(ROWS)
    drawn = [env.reset(seed=seed)[1]["task_id"] for seed in range(300)]
    assert min(drawn.count(row) for row in range(10)) > 10


def test_the_info_reproduces_every_episode() -> None:
    env = DatasetEnv(ROWS)
    env.reset(seed=9)
    for _ in range(12):
        observation, info = env.reset()
        assert DatasetEnv(ROWS).reset(seed=info["seed"], idx=info["task_id"]) == (observation, info)


def test_the_order_is_the_same_in_another_process() -> None:
    code = (
        f"from gem.dataset import DatasetEnv as E; e = E({ROWS!r}); e.reset(seed=5); print(e.reset()[1], e.reset()[1])"
    )
    env = DatasetEnv(ROWS)
    env.reset(seed=5)
    printed = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": "7"}, capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == f"{env.reset()[1]} {env.reset()[1]}"


def test_without_shuffling_the_rows_come_in_their_own_order() -> None:
    env = DatasetEnv(ROWS, shuffle=False)
    assert epoch(env, 12) == [*range(10), 0, 1]
    assert epoch(env, 3, seed=8) == [0, 1, 2]


def test_data_seed_fixes_the_order_and_the_seed_the_place_in_it() -> None:
    order = epoch(DatasetEnv(ROWS, data_seed=42), 10)
    assert order == epoch(DatasetEnv(ROWS, data_seed=42), 10)
    seeded = epoch(DatasetEnv(ROWS, data_seed=42), 10, seed=6)
    start = order.index(seeded[0])
    assert seeded == order[start:] + order[:start]


def test_picking_a_row_takes_nothing_from_the_epoch() -> None:
    env = DatasetEnv(ROWS)
    first = epoch(env, 4, seed=2)
    assert env.reset(idx=0)[1]["task_id"] == 0
    assert sorted([*first, *epoch(env, 6)]) == list(range(10))


def test_max_samples_uses_the_first_rows_only() -> None:
    env = DatasetEnv(ROWS, max_samples=3)
    assert env.num_tasks == 3
    assert sorted(epoch(env, 3)) == [0, 1, 2]
    with pytest.raises(DatasetError, match="rows 0 to 2; there is no row 3"):
        env.reset(idx=3)
    assert DatasetEnv(ROWS, max_samples=99).num_tasks == 10


@pytest.mark.parametrize("idx", [-1, 10, 10**30])
def test_a_row_that_is_not_there_is_refused(idx: int) -> None:
    with pytest.raises(DatasetError, match=rf"rows 0 to 9; there is no row {idx}"):
        DatasetEnv(ROWS).reset(idx=idx)


@pytest.mark.parametrize("idx", [True, "3", 1.0])
def test_a_row_number_of_the_wrong_type_is_refused(idx: Any) -> None:
    with pytest.raises(TypeError, match="idx is the number of a row; got"):
        DatasetEnv(ROWS).reset(idx=idx)


def test_a_refused_reset_changes_nothing() -> None:
    env = DatasetEnv(ROWS)
    epoch(env, 2, seed=2)
    with pytest.raises(DatasetError):
        env.reset(idx=99)
    assert epoch(env, 3) == epoch(DatasetEnv(ROWS), 5, seed=2)[2:]


def test_an_unknown_reset_option_is_refused() -> None:
    with pytest.raises(TypeError, match="takes no option level"):
        DatasetEnv(ROWS).reset(level=3)


@given(st.integers(1, 300), st.integers(0, 2**40))
def test_every_order_is_a_permutation(size: int, seed: int) -> None:
    assert sorted(_shuffled(place, size, seed) for place in range(size)) == list(range(size))


# --- sharing and copies -----------------------------------------------------------------------------------------------


def test_all_envs_of_a_process_share_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "rows.jsonl", "\n".join(map(json.dumps, ROWS)))
    loads = []
    read = gem.dataset_sources._json_lines
    monkeypatch.setattr(gem.dataset_sources, "_json_lines", lambda path: loads.append(path) or read(path))
    envs = [DatasetEnv(str(path)) for _ in range(64)]
    assert loads == []  # constructing reads nothing
    threads = [threading.Thread(target=env.reset) for env in envs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [path]
    assert len({id(env.rows) for env in envs}) == 1
    assert envs[0].spawn().rows is envs[0].rows

    del envs, threads
    gc.collect()
    DatasetEnv(path).reset()
    assert len(loads) == 2  # the rows were freed with the last env that used them


def test_a_file_written_anew_is_another_data_set(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", '{"problem": "old", "answer": 1}')
    old = DatasetEnv(path)
    assert old.reset()[0].startswith("old")
    write(path, '{"problem": "newer", "answer": 1}')
    assert DatasetEnv(path).reset()[0].startswith("newer")
    assert old.reset()[0].startswith("old")


def test_the_state_is_small_and_goes_on_alike() -> None:
    env = DatasetEnv([{**row, "pad": "x" * 10_000} for row in ROWS])
    epoch(env, 3, seed=1)
    state = pickle.dumps(env.get_state())
    assert len(state) < 10_000
    twin, copy = env.spawn(), env.spawn(same_state=True)
    twin.set_state(pickle.loads(state))
    assert twin.step(env.oracle_action())[1] == copy.step(env.oracle_action())[1] == 1.0
    assert epoch(twin, 20) == epoch(copy, 20) == epoch(env, 20)


def test_spawning_takes_changes() -> None:
    env = DatasetEnv(ROWS).spawn(max_samples=2)
    assert env.num_tasks == 2


# --- subclasses and async ---------------------------------------------------------------------------------------------


class Lenient(DatasetEnv):
    def grade(self, action: str, row: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
        self.graded_in = threading.current_thread().name
        return 0.5 if row["answer"] in action else 0.0, {"checked": row["answer"]}


async def test_an_async_step_grades_in_a_thread_unless_that_is_dearer() -> None:
    env = Lenient(ROWS)
    await env.areset(idx=4)
    assert await env.astep("perhaps 8") == ("", 0.5, True, False, {"checked": "8", "success": False, "correct": False})
    assert env.graded_in != threading.main_thread().name
    env.step("perhaps 8")
    assert env.graded_in == threading.main_thread().name

    plain = DatasetEnv(ROWS)
    await plain.areset(idx=4)
    assert (await plain.astep("\\boxed{8}"))[1] == 1.0


async def test_an_async_grader_is_awaited() -> None:
    class Judged(DatasetEnv):
        async def agrade(self, action: str, row: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
            await asyncio.sleep(0)
            return 1.0, {"success": False}

    env = Judged(ROWS)
    await env.areset()
    assert (await env.astep(""))[4] == {"success": False, "correct": False}


async def test_a_grader_overridden_alone_is_the_async_one_too() -> None:
    class Judged(DatasetEnv):
        async def agrade(self, action: str, row: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
            return 1.0, {}

    class Half(Judged):
        def grade(self, action: str, row: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
            return 0.5, {}

    env = Half(ROWS)
    await env.areset()
    assert (await env.astep(""))[1] == 0.5


# --- where rows come from ---------------------------------------------------------------------------------------------


def test_every_local_format_gives_the_same_rows(tmp_path: Path) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    csv = "problem,answer\n" + "".join(f'"{row["problem"]}",{row["answer"]}\n' for row in ROWS)
    sources = [
        write(tmp_path / "a.jsonl", lines),
        write(tmp_path / "bom.jsonl", lines, "utf-8-sig"),
        write(tmp_path / "crlf.jsonl", lines.replace("\n", "\r\n")),
        write(tmp_path / "blank.jsonl", "\n" + lines + "\n \n"),
        write(tmp_path / "a.json", json.dumps(ROWS)),
        write(tmp_path / "splits.json", json.dumps({"train": ROWS, "test": []})),
        write(tmp_path / "a.csv", csv, "utf-8-sig"),
        write(tmp_path / "crlf.csv", csv.replace("\n", "\r\n")),
        write(tmp_path / "folder/train.jsonl", lines).parent,
        tuple(ROWS),
    ]
    for source in sources:
        env = DatasetEnv(str(source) if isinstance(source, Path) else source)
        assert [dict(env.rows[i]) for i in range(env.num_tasks)] == ROWS, source


def test_a_line_separator_inside_a_row_splits_nothing(tmp_path: Path) -> None:
    question = "one\u2028two\u2029three\x85four\fdfour"
    row = json.dumps({"problem": question, "answer": "é"}, ensure_ascii=False)
    path = write(tmp_path / "rows.jsonl", row + "\n")
    assert DatasetEnv(path, instruction="").reset()[0] == question


def test_files_are_utf8_whatever_the_locale(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", '{"problem": "π?", "answer": "é"}')
    code = f"from gem.dataset import DatasetEnv; print(ascii(DatasetEnv({str(path)!r}).reset()[0][:2]))"
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", code], env={"LC_ALL": "C"}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == r"'\u03c0?'"


@pytest.mark.parametrize(
    "name, text, message",
    [
        (
            "a.jsonl",
            '{"problem": "1"}\n{"problem": "2", "ans',
            r"Line 2 of .*a\.jsonl is not JSON .*last line.*cut",
        ),
        ("a.jsonl", '{"problem": \n{"problem": "2"}\n', r"Line 1 of .*a\.jsonl is not JSON"),
        ("a.jsonl", "[" * 100_000, r"Line 1 of .*a\.jsonl is not JSON"),
        ("a.json", "[" * 100_000, r"a\.json is not JSON"),
        ("a.jsonl", '["a"]\n', r"Row 0 of .*a\.jsonl is not a mapping .* but a list"),
        ("a.jsonl", "\n", r"a\.jsonl has no rows"),
        ("a.json", '{"problem": 1}\n{"problem": 2}\n', r"a\.json is not JSON .* name it \.jsonl"),
        ("a.json", '{"test": []}', r"neither a list of objects nor an object with such a list under 'train'"),
        ("a.jsonl", '{"problem": "x", "gold": "y"}', r"Row 0 of .* has no 'answer'; its keys are 'problem', 'gold'"),
        (
            "a.csv",
            "problem,answer\na,b\nc\n",
            r"Row 1 of .* has nothing under 'answer'; its keys are",
        ),
        ("a.csv", "problem,answer\n" + "x" * 200_000 + ",1\n", r"not CSV that Python reads .*convert it to JSON Lines"),
    ],
)
def test_a_broken_file_is_named_with_the_place(tmp_path: Path, name: str, text: str, message: str) -> None:
    env = DatasetEnv(write(tmp_path / name, text))
    with pytest.raises(DatasetError, match=message):
        env.reset()


def test_a_file_that_is_not_utf8_says_so(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is not UTF-8 text"):
        DatasetEnv(write(tmp_path / "a.jsonl", '{"problem": "é"}', "latin-1")).reset()
    with pytest.raises(DatasetError, match="is not UTF-8 text"):
        DatasetEnv(write(tmp_path / "a.json", '[{"problem": "é"}]', "latin-1")).reset()


@pytest.mark.skipif(sys.platform == "win32", reason="no file name there holds a colon")
def test_a_colon_in_a_file_name_makes_it_no_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PLUG-11: a file that exists is that file."""
    write(tmp_path / "math:rows.jsonl", '{"problem": "1 + 1?", "answer": "2"}\n')
    monkeypatch.chdir(tmp_path)
    env = DatasetEnv("math:rows.jsonl")
    env.reset()
    assert env.step("\\boxed{2}")[1] == 1.0
    with pytest.raises(DatasetError, match="neither a file that exists nor a hub name"):
        DatasetEnv("nosuch:thing")


def test_a_missing_file_is_an_error_at_the_first_reset(tmp_path: Path) -> None:
    env = DatasetEnv(tmp_path / "absent.jsonl")
    with pytest.raises(DatasetError, match=r"There is no file .*absent\.jsonl"):
        env.reset()


@pytest.mark.parametrize(
    "dataset, error, message",
    [
        ("rows", DatasetError, "neither a file that exists nor a hub name"),
        ("a/b/c", DatasetError, "of the form 'owner/name'"),
        ("./rows.xlsx", DatasetError, r"has to end in \.jsonl, \.json, \.csv, \.parquet"),
        ([], DatasetError, "has no rows"),
        ({"test": ROWS}, DatasetError, "has no split 'train'; it has 'test'"),
        (iter(ROWS), TypeError, "takes a list of dicts, a path"),
        (b"rows", TypeError, "got a bytes"),
        (None, TypeError, "got a NoneType"),
    ],
)
def test_what_cannot_be_a_data_set_is_refused_at_construction(
    dataset: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        DatasetEnv(dataset)


@pytest.mark.parametrize(
    "argument, message",
    [
        ({"answer_format": "box"}, "one of 'boxed', 'answer', 'fenced' and None; got 'box'"),
        ({"max_samples": 0}, "whole number above 0, or None for all rows; got 0"),
        ({"max_samples": True}, "got True"),
        ({"data_seed": -1}, "0 or larger"),
    ],
)
def test_a_wrong_argument_is_refused(argument: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DatasetEnv(ROWS, **argument)


def test_the_callers_rows_are_not_changed() -> None:
    rows = [dict(row) for row in ROWS]
    env = DatasetEnv(rows)
    epoch(env, 5)
    env.step("x")
    assert rows == ROWS


# --- the hub ----------------------------------------------------------------------------------------------------------


def test_gem_data_maps_hub_names_to_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "owner/set/test.jsonl", json.dumps(ROWS[3]))
    monkeypatch.setenv("GEM_DATA", str(tmp_path))
    assert DatasetEnv("owner/set", split="test").reset()[0].startswith("What is 3 + 3?")


def test_without_the_library_a_hub_name_says_what_to_install_or_where_to_put_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    monkeypatch.delenv("GEM_DATA", raising=False)
    with pytest.raises(
        MissingDependency, match=r"gem-core\[datasets\].*GEM_DATA=<folder>.*<folder>/owner/set/train\.jsonl"
    ):
        DatasetEnv("owner/set").reset()
    monkeypatch.setenv("GEM_DATA", str(tmp_path))
    with pytest.raises(MissingDependency, match=r"put its rows into .*owner/set/train\.jsonl \(GEM_DATA is set"):
        DatasetEnv("owner/set").reset()


class FakeHub:
    """Stands for the `datasets` package."""

    @staticmethod
    def load_dataset(name: str, split: str) -> Any:
        if name == "owner/set":
            return FakeColumns()
        raise ConnectionError("Couldn't reach the hub\nwith a second line")


class FakeColumns:
    """Stands for a `datasets.Dataset`."""

    column_names = ("problem", "answer")

    def __len__(self) -> int:
        return len(ROWS)

    def __getitem__(self, index: int) -> dict[str, str]:
        return ROWS[index]


def test_a_hub_set_is_loaded_and_announced(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.delenv("GEM_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "datasets", FakeHub)
    with caplog.at_level(logging.INFO, "gem"):
        env = DatasetEnv("owner/set")
        assert caplog.text == ""
        env.reset(idx=2)
    assert "Loading owner/set (train) from the Hugging Face hub" in caplog.text
    with pytest.raises(
        DatasetError, match=r"Row 0 of owner/set \(train\) has no 'q'; its keys are 'problem', 'answer'"
    ):
        DatasetEnv("owner/set", question_key="q").reset()


def test_a_hub_that_cannot_be_reached_is_one_error_with_both_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEM_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "datasets", FakeHub)
    message = (
        r"ConnectionError: Couldn't reach the hub\. Either check .*connection.*or work offline: set GEM_DATA=<folder>"
    )
    with pytest.raises(DatasetError, match=message):
        DatasetEnv("owner/other").reset()


def test_a_dataset_object_is_taken_as_it_is() -> None:
    env = DatasetEnv(FakeColumns())
    env.reset(idx=2)
    assert env.step("\\boxed{4}")[1] == 1.0


def test_parquet_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match=r"gem-core\[datasets\]"):
        DatasetEnv(write(tmp_path / "a.parquet", "")).reset()


def test_parquet_and_real_datasets_objects_work(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="the extra gem-core[datasets] is not installed")
    table = datasets.Dataset.from_list(ROWS)
    table.to_parquet(str(tmp_path / "rows.parquet"))
    for source in (table, datasets.DatasetDict(train=table), tmp_path / "rows.parquet"):
        env = DatasetEnv(source)
        env.reset(idx=4)
        assert env.step("\\boxed{8}")[1] == 1.0
    with pytest.raises(DatasetError, match="is not Parquet"):
        DatasetEnv(write(tmp_path / "bad.parquet", "no")).reset()


# --- real sets --------------------------------------------------------------------------------------------------------


class GSM8K(DatasetEnv):
    """The original columns: the answer is what follows `####` in the worked solution."""

    def gold_answers(self, row: Mapping[str, Any]) -> list[str]:
        return [row["answer"].rpartition("#### ")[2].replace(",", "")]


def test_the_oracle_solves_all_of_gsm8k(data_folder: Path) -> None:
    env = GSM8K(data_folder / "gsm8k/test.jsonl", question_key="question", shuffle=False)
    assert env.num_tasks == 1319
    assert "Janet\u2019s ducks" in env.reset(idx=0)[0]
    assert env.step("So she makes \\boxed{18}.")[1] == 1.0
    for _ in range(env.num_tasks):
        env.reset()
        assert env.step(env.oracle_action())[1] == 1.0


def test_the_oracle_solves_all_of_math_500(data_folder: Path) -> None:
    env = DatasetEnv(data_folder / "math_eval/math.jsonl")
    for index in range(env.num_tasks):
        env.reset(idx=index)
        assert env.step(env.oracle_action())[1] == 1.0


def test_open_questions_take_any_of_their_answers(data_folder: Path) -> None:
    path = data_folder / "nq_open/NQ-open.dev.first1800.jsonl"
    env = DatasetEnv(path, question_key="question", answer_format="answer", shuffle=False)
    assert "last time anyone was on the moon" in env.reset()[0]
    assert env.step("<answer>December 1972</answer>")[1] == 1.0
