"""ToolEnvWrapper: contract T1, T2, T3, T4, E9, E11, E14."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
import threading
from itertools import permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gem.core import Env, Wrapper
from gem.errors import Fault, ResetNeeded, StateError
from gem.tools.base import Tool, ToolResult
from gem.tools.tool_env_wrapper import ToolEnvWrapper
from gem.wrappers.checks import EnvChecks
from gem.wrappers.episode import EpisodeTracking
from gem.wrappers.limits import StepLimit
from gem.wrappers.observation import Concat


def native(name: Any, arguments: Any = None) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


ADD = native("add", {"a": 3, "b": 4})
MUL = native("mul", {"a": 3, "b": 4})


class Raiser(Tool):
    """Raises what it holds; `<raise></raise>` calls it."""

    def __init__(self, error: Any) -> None:
        self.error = error

    def parse(self, action: str, *, answer_format: str | None = None) -> Any:
        from gem.parsing import tagged

        return self.calls_from(tagged(action, "raise"), "text")

    def execute(self, call: Any) -> Any:
        if isinstance(self.error, BaseException):
            raise self.error
        return self.error


class Legacy(Tool):
    """An old tool: `execute_action` and nothing else."""

    tool_type = "legacy"

    def execute_action(self, action: str) -> tuple[bool, bool, Any, str]:
        if "CALL" not in action:
            return False, True, "", ""
        if "CRASH" in action:
            raise OSError("disk")
        if "FAULT" in action:
            raise Fault("server", "gone")
        return True, "BAD" in action, "old answer", action[: action.index("CALL") + 4]


@pytest.fixture
def env(quiz, calculator, shout):
    env = ToolEnvWrapper(quiz, tools=[calculator, shout])
    env.reset(seed=1)
    return env


@pytest.fixture(params=["sync", "async"])
def step(request):
    """Step through either twin."""
    if request.param == "sync":
        return lambda env, action: env.step(action)
    return lambda env, action: asyncio.run(env.astep(action))


# --- calls and results ---


def test_a_call_is_answered_and_never_reaches_the_env(env, quiz, step):
    observation, reward, terminated, truncated, info = step(env, f"Let me add. {ADD} \\boxed{{7}}")
    assert observation == "7"
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert type(reward) is float
    assert quiz.seen == []
    assert info == {
        "use_tool": True,
        "tool_type": "calculator",
        "parsed_action": f"Let me add. {ADD}",
        "tool_results": [{"id": "call_0", "name": "add", "text": "7", "is_error": False, "native": True}],
        "tool_use_counter": 1,
        "tool_success_counter": 1,
    }


def test_an_action_without_a_call_goes_to_the_env(env, quiz, step):
    answer = f"\\boxed{{{quiz.number + 1}}}"
    _, reward, terminated, truncated, info = step(env, answer)
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert quiz.seen == [answer]
    assert info["success"] is True
    assert (info["use_tool"], info["tool_results"], info["tool_use_counter"]) == (False, [], 0)


def test_several_calls_are_answered_in_order_each_tied_to_its_id(env, step):
    observation, *_, info = step(env, f"{ADD}<shout>then</shout>{MUL}{ADD}")
    assert observation == "7\nTHEN\n12\n7"
    assert [result["name"] for result in info["tool_results"]] == ["add", "shout", "mul", "add"]
    assert [result["native"] for result in info["tool_results"]] == [True, False, True, True]
    assert [r["id"] for r in info["tool_results"] if r["native"]] == ["call_0", "call_1", "call_2"]
    assert len({result["id"] for result in info["tool_results"]}) == 4
    assert info["tool_use_counter"] == 4


@pytest.mark.parametrize(
    "text, words",
    [
        ('{"arguments": {"a": 1}}', "no name"),
        ('{"name": "add"}', "needs 'a'"),
        ("{}", "no name"),
        ('{"name": "add", "arguments": "{bad"}', "not valid JSON"),
        ("[1]", "list"),
        ("3", "number"),
        ('{"name": "add", "arguments": {"a": 1}{}}', "not valid JSON"),
        ('{"name": "add", "arguments": {"a": 1}}{}', "goes on"),
        ('{"name": "fly", "arguments": {}}', "no function named 'fly'. Those that exist: add, mul."),
        ('{"name": "add", "arguments": {"a": "three"}}', "'a' must be of type number, not string"),
        ('{"name": "add", "arguments": {"a": 1, "z": 1}}', "no parameter 'z'"),
    ],
)
def test_malformed_calls_are_answered_so_that_the_model_can_repair_them(env, quiz, step, text, words):
    observation, reward, terminated, truncated, info = step(env, f"<tool_call>{text}</tool_call>")
    assert words in observation
    assert observation.startswith("Error: ")
    assert (reward, terminated, truncated, quiz.seen) == (0.0, False, False, [])
    assert info["tool_results"][0]["is_error"] is True
    assert (info["tool_use_counter"], info["tool_success_counter"]) == (1, 0)
    assert step(env, ADD)[0] == "7"


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "add", "arguments": {"a": 6, "b": null}}',
        '{"name": "add", "arguments": {"a": 6}}',
        '{"name": "add", "arguments": {"a": 6, "unit": null}}',
        '{"name": "add", "arguments": "{\\"a\\": 6}"}',
    ],
)
def test_clear_calls_work_despite_nulls_and_strings(env, step, text):
    assert step(env, f"<tool_call>{text}</tool_call>")[0] == "7"


@pytest.mark.parametrize("text", ['"arguments": {}""', '"arguments": null', '"arguments": {}'])
def test_a_call_without_arguments_runs(quiz, text):
    class Clock(Tool):
        schemas = ({"type": "function", "function": {"name": "now", "parameters": {"properties": {}}}},)

        def execute(self, call: Any) -> str:
            return "noon"

    env = ToolEnvWrapper(quiz, tools=[Clock()])
    env.reset()
    assert env.step(f'<tool_call>{{"name": "now", {text}}}</tool_call>')[0] == "noon"


def test_tools_without_functions_say_that_no_block_works_here(quiz, shout):
    env = ToolEnvWrapper(quiz, tools=[shout])
    env.reset()
    assert "none can be called in a <tool_call> block" in env.step(ADD)[0]


def test_the_answer_format_is_passed_to_the_parsers(quiz):
    seen = []

    class Fenced(Tool):
        def parse(self, action: str, *, answer_format: str | None = None) -> Any:
            seen.append(answer_format)
            return []

    env = ToolEnvWrapper(quiz, tools=[Fenced()])
    env.reset()
    env.step("x")
    assert seen == ["boxed"]


def test_statuses_come_from_the_flag(env, step):
    *_, info = step(env, "<shout>Error: Traceback</shout><shout></shout>")
    assert [result["is_error"] for result in info["tool_results"]] == [False, True]
    assert info["tool_success_counter"] == 1


def test_oversized_results_and_arguments_leave_the_episode_usable(env, step):
    step(env, "<shout>" + "x" * 2_000_000 + "</shout>")
    observation, *_, info = step(env, native("add", {"a": 1, "unit": "q" * 2_000_000}))
    assert "qqq" not in observation
    assert len(json.dumps(info)) < 20_000
    assert step(env, ADD)[0] == "7"


def test_one_turn_answers_a_hundred_calls_and_says_how_many_were_left(quiz, calculator):
    env = ToolEnvWrapper(quiz, tools=[calculator], max_tool_uses=None)
    env.reset()
    observation, *_, info = env.step(ADD * 150)
    assert len(info["tool_results"]) == 100
    assert observation.endswith("(50 more calls were not read: one turn has 100 at most.)")


# --- failures ---


class Mute(Exception):
    def __repr__(self) -> str:
        return "Mute()"

    def __str__(self) -> str:
        raise ValueError("it cannot say what it is")


class Panic(BaseException):
    """What an extension module raises where its own code is broken."""


@pytest.mark.parametrize("error", [Mute(), Panic("x"), asyncio.CancelledError(), GeneratorExit()], ids=repr)
def test_odd_exceptions_of_a_tool_are_its_own_too(quiz, step, error):
    env = ToolEnvWrapper(quiz, tools=[Raiser(error)])
    env.reset()
    observation, _, terminated, truncated, info = step(env, "<raise></raise>")
    assert type(error).__name__ in observation
    assert (terminated, truncated, info["tool_results"][0]["is_error"]) == (False, False, True)


@pytest.mark.parametrize(
    "error", [KeyError(), OSError("disk"), TimeoutError("slow"), RuntimeError("x"), StopIteration()]
)
def test_a_failing_tool_does_not_take_the_episode_down(quiz, step, error):
    env = ToolEnvWrapper(quiz, tools=[Raiser(error)])
    env.reset()
    observation, _, terminated, truncated, info = step(env, "<raise></raise>")
    assert type(error).__name__ in observation
    assert str(error) in observation
    assert (terminated, truncated, info["tool_results"][0]["is_error"]) == (False, False, True)
    assert step(env, "no box")[0] == "Well?"


def test_sync_steps_inside_a_running_loop_do_not_deadlock(env):
    async def main() -> Any:
        return env.step(ADD)[0]

    assert asyncio.run(asyncio.wait_for(main(), 10)) == "7"


@pytest.mark.parametrize("fault", [Fault("sandbox", "docker at /run/x is down"), ToolResult("down", fault="sandbox")])
def test_a_fault_is_raised_and_ends_the_episode(quiz, step, fault):
    env = ToolEnvWrapper(quiz, tools=[Raiser(fault)])
    env.reset()
    with pytest.raises(Fault, match=r"sandbox: .*down"):
        step(env, "<raise></raise>")
    with pytest.raises(ResetNeeded, match="after the end"):
        step(env, "text")
    env.reset()
    assert step(env, "text")[0] == "Well?"


def test_a_fault_can_be_told_to_the_model_without_its_details_or_a_reward(quiz, step):
    tool = Raiser(Fault("server", "http://10.0.0.1 refused"))
    env = ToolEnvWrapper(quiz, [tool], tool_reward=1, tool_execute_error_reward=-1, on_fault="tell")
    env.reset()
    observation, reward, terminated, truncated, info = step(env, "<raise></raise>")
    assert "cannot be used now (server failure)" in observation
    assert "10.0.0.1" not in observation
    assert (reward, terminated, truncated, info["tool_success_counter"]) == (0.0, False, False, 0)


def test_an_interrupt_of_the_user_ends_the_episode(quiz):
    env = ToolEnvWrapper(quiz, tools=[Raiser(KeyboardInterrupt())])
    env.reset()
    with pytest.raises(KeyboardInterrupt):
        env.step("<raise></raise>")
    with pytest.raises(ResetNeeded):
        env.step("text")


def test_a_fault_of_the_env_ends_the_episode_for_tools_too(quiz, shout, monkeypatch):
    env = ToolEnvWrapper(quiz, tools=[shout])
    env.reset()
    monkeypatch.setattr(quiz, "step", Raiser(Fault("grader")).execute)
    with pytest.raises(Fault):
        env.step("text")
    with pytest.raises(ResetNeeded):
        env.step("<shout>x</shout>")


# --- episodes ---


def test_steps_before_reset_and_after_the_end_are_refused_for_calls_too(quiz, shout, step):
    env = ToolEnvWrapper(quiz, tools=[shout])
    for action in ("<shout>x</shout>", "text"):
        with pytest.raises(ResetNeeded, match="before reset"):
            step(env, action)
    env.reset()
    step(env, "\\boxed{0}")
    with pytest.raises(ResetNeeded, match="after the end"):
        step(env, "<shout>x</shout>")


def test_an_action_of_the_wrong_type_is_refused_unharmed(quiz, shout, step):
    env = ToolEnvWrapper(EnvChecks(quiz), tools=[shout])
    env.reset()
    with pytest.raises(TypeError, match="takes a str"):
        step(env, 3)
    assert step(env, "<shout>x</shout>")[0] == "X"


@pytest.mark.parametrize("is_async", [False, True])
def test_reset_puts_the_instructions_after_the_question(quiz, calculator, shout, is_async):
    env = ToolEnvWrapper(quiz, tools=[shout, calculator])
    observation, info = asyncio.run(env.areset(seed=3, idx=5)) if is_async else env.reset(seed=3, idx=5)
    question, shouting, adding = observation.split("\n")[:3]
    assert question == f"What is {quiz.number} plus 1?"
    assert shouting == shout.instruction_string()
    assert adding.startswith("You can call")
    assert (info["seed"], info["idx"], info["use_tool"]) == (3, 5, False)
    with pytest.raises(TypeError, match="no option colour"):
        env.reset(colour=1)


def test_instructions_stand_before_the_suffix(quiz, shout):
    quiz.suffix = "\nBoard: ##"
    observation, info = ToolEnvWrapper(quiz, tools=[shout]).reset()
    assert observation.endswith(info["suffix"])
    assert observation.count("Board") == 1
    assert shout.instruction_string() in observation.removesuffix(info["suffix"])


def test_a_question_with_images_keeps_them(shout):
    class Pictures(Env):
        def __init__(self, observation: Any) -> None:
            self.observation = observation

        def reset(self, seed: int | None = None, **options: Any) -> Any:
            return self.observation, super().reset(seed=seed, **options)[1]

        def step(self, action: Any) -> Any:
            raise NotImplementedError

    given = {"problem": "What?", "images": ["i"]}
    observation, _ = ToolEnvWrapper(Pictures(given), tools=[shout]).reset()
    assert observation == {"problem": f"What?\n{shout.instruction_string()}", "images": ["i"]}
    assert given == {"problem": "What?", "images": ["i"]}
    with pytest.raises(TypeError, match="cannot take the tools' instructions"):
        ToolEnvWrapper(Pictures(7), tools=[shout]).reset()


def test_reset_reports_the_last_episode_and_resets_the_tools(env, calculator):
    env.step(ADD + native("fly"))
    assert calculator.memory == [7]
    _, info = env.reset()
    assert calculator.memory == []
    assert (info["tool_use_counter"], info["tool_success_counter"]) == (0, 0)
    assert (info["prev_ep_tool_use_counter"], info["prev_ep_tool_success_counter"]) == (2, 1)
    assert env.reset()[1]["prev_ep_tool_use_counter"] == 0


def test_a_tool_that_cannot_be_reset_leaves_no_episode(quiz):
    class Stuck(Tool):
        def reset(self) -> None:
            raise Fault("sandbox")

    env = ToolEnvWrapper(quiz, tools=[Stuck()])
    for reset in (env.reset, lambda: asyncio.run(env.areset())):
        with pytest.raises(Fault):
            reset()
        with pytest.raises(ResetNeeded):
            env.step("text")


# --- limits ---


def test_limit_zero_runs_nothing(quiz, calculator, step):
    env = ToolEnvWrapper(quiz, tools=[calculator], max_tool_uses=0)
    assert "tool_call" not in env.reset()[0]
    observation, _, _, truncated, info = step(env, ADD)
    assert "not run" in observation
    assert (calculator.memory, truncated, info["tool_use_counter"]) == ([], False, 0)


def test_limit_one_runs_once_announces_refuses_and_ends(quiz, calculator, step):
    env = ToolEnvWrapper(quiz, [calculator], tool_reward=0.5, max_tool_uses=1)
    env.reset()
    observation, reward, *_ = step(env, ADD)
    assert observation == "7\n\nYou have used the one tool call that you have. Give your final answer without a tool."
    assert reward == 0.5
    observation, reward, terminated, truncated, info = step(env, ADD)
    assert "since you have used the one tool call that you have" in observation
    assert "Another call ends the episode" in observation
    assert (reward, terminated, truncated, info["tool_results"][0]["is_error"]) == (0.0, False, False, True)
    observation, reward, terminated, truncated, info = step(env, ADD)
    assert "The episode ends here" in observation
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["truncated_by"], info["success"], info["tool_use_counter"]) == ("tool_limit", False, 1)
    assert calculator.memory == [7]
    with pytest.raises(ResetNeeded):
        step(env, "\\boxed{1}")
    env.reset()
    assert step(env, ADD)[0].startswith("7")


def test_an_answer_between_two_refused_calls_makes_them_not_in_a_row(quiz, calculator, step):
    env = ToolEnvWrapper(quiz, tools=[calculator], max_tool_uses=0)
    env.reset()
    for _ in range(3):
        assert step(env, ADD)[3] is False
        assert step(env, "thinking")[0] == "Well?"
    step(env, ADD)
    assert step(env, ADD)[3] is True


def test_calls_of_one_turn_past_the_limit_are_refused_in_their_places(quiz, calculator, step):
    env = ToolEnvWrapper(quiz, tools=[calculator], max_tool_uses=2)
    env.reset()
    _, _, _, truncated, info = step(env, ADD + MUL + ADD + ADD)
    texts = [result["text"] for result in info["tool_results"]]
    assert texts[0] == "7"
    assert texts[1].startswith("12\n\nYou have used all 2 tool calls that you have")
    assert all("not run" in text for text in texts[2:])
    assert (truncated, info["tool_use_counter"], calculator.memory) == (False, 2, [7, 12])


def test_none_is_no_limit(quiz, shout):
    env = ToolEnvWrapper(quiz, tools=[shout], max_tool_uses=None)
    env.reset()
    for _ in range(50):
        assert env.step("<shout>a</shout>")[0] == "A"


@pytest.mark.parametrize("limit", [-1, 2.5, "3", True])
def test_wrong_limits_are_refused(quiz, shout, limit):
    with pytest.raises((TypeError, ValueError), match="max_tool_uses"):
        ToolEnvWrapper(quiz, tools=[shout], max_tool_uses=limit)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"tools": "python"}, "list of tools"),
        ({"tools": [Raiser]}, "Make an instance"),
        ({"tools": [3]}, "Derive it from gem.Tool"),
        ({"tools": [], "tool_reward": "1"}, "tool_reward is a number"),
        ({"tools": [], "tool_success_reward": float("nan")}, "finite"),
        ({"tools": [], "on_fault": "ignore"}, '"raise" or "tell"'),
    ],
)
def test_wrong_constructor_arguments_are_refused(quiz, arguments, words):
    with pytest.raises((TypeError, ValueError), match=words):
        ToolEnvWrapper(quiz, **arguments)


def test_two_tools_with_one_function_name_are_refused_and_stay_free(quiz, calculator):
    second = type(calculator)()
    with pytest.raises(ValueError, match="named 'add'"):
        ToolEnvWrapper(quiz, tools=[calculator, second])
    assert ToolEnvWrapper(quiz, tools=[second]).tools[0] is second


# --- rewards ---


def test_rewards_are_summed_over_the_calls(quiz, calculator, shout, step):
    env = ToolEnvWrapper(
        quiz, [calculator, shout], tool_reward=1, tool_success_reward=0.5, tool_execute_error_reward=-0.25
    )
    env.reset()
    assert step(env, ADD)[1] == 1.5
    assert step(env, "<shout></shout>")[1] == 0.75
    assert step(env, native("fly"))[1] == -0.25
    assert step(env, native("add", {}))[1] == -0.25
    assert step(env, ADD + "<shout></shout>" + native("fly"))[1] == 2.0
    assert step(env, "text")[1] == 0.0


# --- ownership and copies ---


def test_the_callers_list_is_not_changed_and_a_second_wrapper_gets_a_tool_of_its_own(quiz, calculator):
    tool = type(calculator)(precision=1)
    tools = [tool]
    first = ToolEnvWrapper(quiz, tools=tools)
    second = ToolEnvWrapper(type(quiz)(), tools=tools)
    assert tools == [tool]
    assert first.tools[0] is tool
    assert second.tools[0] is not tool
    assert second.tools[0].precision == 1
    first.reset()
    second.reset()
    first.step(ADD)
    assert second.tools[0].memory == []


def test_wrappers_made_at_the_same_time_never_share_a_tool(quiz, shout):
    made = []
    threads = [
        threading.Thread(target=lambda: made.append(ToolEnvWrapper(type(quiz)(), tools=[shout]))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(env.tools[0]) for env in made}) == 8


def test_spawn_same_state_goes_on_alike_and_independently(env, calculator):
    env.step(ADD)
    copy = env.spawn(same_state=True)
    assert copy.tools[0] is not env.tools[0]
    assert copy.step(MUL) == env.step(MUL)
    assert copy.step(MUL)[4]["tool_use_counter"] == 3
    assert env.tool_use_counter == 2
    assert (calculator.memory, copy.tools[0].memory) == ([7, 12], [7, 12, 12])
    assert copy.unwrapped.number == env.unwrapped.number
    assert copy.unwrapped is not env.unwrapped


def test_tools_of_a_copy_belong_to_the_copy(env, quiz):
    env.reset(seed=1)
    twin = env.spawn(same_state=True)
    other = ToolEnvWrapper(quiz, tools=list(twin.tools))
    assert not set(map(id, other.tools)) & set(map(id, twin.tools))


def test_spawn_fresh_makes_new_tools_and_counters(env):
    env.step(ADD)
    fresh = env.spawn(suffix="\nboard")
    assert fresh.unwrapped.suffix == "\nboard"
    assert fresh.tools[0] is not env.tools[0]
    with pytest.raises(ResetNeeded):
        fresh.step(ADD)
    assert fresh.reset(seed=1)[1]["prev_ep_tool_use_counter"] == 0


def test_state_covers_env_tools_and_counters(env, calculator):
    env.step(ADD)
    state = pickle.loads(pickle.dumps(env.get_state()))
    for _ in range(2):
        env.step(MUL)
        env.step("\\boxed{0}")
        env.set_state(state)
        assert (calculator.memory, env.tool_use_counter) == ([7], 1)
        assert env.step(MUL)[0] == "12"
    other = ToolEnvWrapper(env.unwrapped.spawn(), tools=[])
    with pytest.raises(StateError, match="has 0 tools"):
        other.set_state(state)


def test_a_wrapper_can_be_pickled(env):
    env.step(ADD)
    copy = pickle.loads(pickle.dumps(env))
    assert copy.step(MUL) == env.step(MUL)


def test_a_subclass_that_shares_something_still_has_tools_of_its_own(quiz, calculator):
    class Sharing(ToolEnvWrapper):
        shared = ("tokenizer",)

    env = Sharing(quiz, tools=[calculator])
    env.reset()
    copy = env.spawn(same_state=True)
    copy.step(ADD)
    assert calculator.memory == []
    assert "tools" not in env.get_state()["attributes"]


def test_close_closes_everything_even_if_a_tool_fails(quiz, monkeypatch):
    closed = []

    class Door(Tool):
        def __init__(self, name: str) -> None:
            self.door = name

        def close(self) -> None:
            closed.append(self.door)
            if self.door == "second":
                raise OSError("stuck")

    monkeypatch.setattr(quiz, "close", lambda: closed.append("env"))
    env = ToolEnvWrapper(quiz, tools=[Door("first"), Door("second")])
    with pytest.raises(OSError, match="stuck"):
        env.close()
    assert closed == ["second", "first", "env"]


def test_oracle_and_random_actions_pass_through(env, quiz, monkeypatch):
    monkeypatch.setattr(quiz, "oracle_action", lambda: "\\boxed{1}")
    assert env.oracle_action() == "\\boxed{1}"
    assert env.sample_random_action().startswith("\\boxed{")
    assert env.number == quiz.number


# --- old tools ---


def test_an_old_tool_works_as_it_is(quiz, shout, step):
    env = ToolEnvWrapper(quiz, tools=[Legacy(), shout], tool_success_reward=1)
    env.reset()
    observation, reward, terminated, truncated, info = step(env, "please CALL it")
    assert (observation, reward, terminated, truncated) == ("old answer", 1.0, False, False)
    assert (info["tool_type"], info["parsed_action"]) == ("legacy", "please CALL")
    assert info["tool_results"][0]["name"] == "legacy"
    assert step(env, "CALL BAD")[4]["tool_results"][0]["is_error"] is True
    assert "OSError: disk" in step(env, "CALL CRASH")[0]
    assert step(env, "<think>CALL</think> no")[0] == "Well?"
    assert step(env, "<shout>CALL</shout>")[0] == "CALL"


def test_a_fault_of_an_old_tool_is_a_fault(quiz, step):
    env = ToolEnvWrapper(quiz, tools=[Legacy()])
    env.reset()
    with pytest.raises(Fault):
        step(env, "CALL FAULT")
    env = ToolEnvWrapper(quiz, tools=[Legacy()], on_fault="tell")
    env.reset()
    assert "cannot be used now" in step(env, "CALL FAULT")[0]


def test_an_old_tool_keeps_to_the_limit(quiz, step):
    env = ToolEnvWrapper(quiz, tools=[Legacy()], max_tool_uses=1)
    env.reset()
    assert "used the one tool call that you have." in step(env, "CALL")[0]
    assert step(env, "CALL")[0] == "Well?"


# --- nested and in the stack ---


@pytest.fixture
def nested(quiz, calculator, shout):
    inner = ToolEnvWrapper(quiz, tools=[calculator], tool_reward=1, max_tool_uses=2)
    env = ToolEnvWrapper(StepLimit(inner, max_steps=50), tools=[shout], tool_reward=10)
    env.reset(seed=1)
    return env


def test_nested_wrappers_each_answer_their_own_calls(nested, quiz, step):
    assert step(nested, ADD)[:2] == ("7", 1.0)
    observation, reward, *_, info = step(nested, f"<shout>a</shout>{MUL}<shout>b</shout>")
    assert observation.startswith("A\n12\n\nYou have used all 2 tool calls that you have")
    assert observation.endswith("\nB")
    assert reward == 21.0
    assert [result["name"] for result in info["tool_results"]] == ["shout", "mul", "shout"]
    assert info["tool_use_counter"] == 4
    assert quiz.seen == []
    assert step(nested, native("fly"))[0] == "Error: There is no function named 'fly'. Those that exist: add, mul."
    step(nested, ADD)
    assert step(nested, ADD)[4]["truncated_by"] == "tool_limit"
    with pytest.raises(ResetNeeded):
        step(nested, "<shout>x</shout>")
    _, info = nested.reset()
    assert info["prev_ep_tool_use_counter"] == 5


def test_nested_instructions_are_all_there(quiz, calculator, shout):
    observation, _ = ToolEnvWrapper(ToolEnvWrapper(quiz, tools=[calculator]), tools=[shout]).reset()
    assert "<tool_call>" in observation
    assert "<shout>" in observation
    with pytest.raises(ValueError, match="named 'add'"):
        ToolEnvWrapper(ToolEnvWrapper(quiz, tools=[calculator]), tools=[type(calculator)()])


def test_reset_options_pass_any_order_of_wrappers(quiz, shout):
    env = EpisodeTracking(StepLimit(ToolEnvWrapper(EpisodeTracking(quiz), tools=[shout]), max_steps=3))
    assert env.reset(seed=1, idx=3)[1]["idx"] == 3
    assert env.step("<shout>x</shout>")[4]["step_counter"] == 1
    with pytest.raises(TypeError, match="no option colour"):
        env.reset(colour=1)


def test_reset_options_reach_the_env_through_every_order_of_wrappers(quiz, shout):
    """WRAP-06: whichever is outermost passes them on."""
    layers = [lambda env: ToolEnvWrapper(env, [shout]), lambda env: StepLimit(env, 3), EpisodeTracking, Concat]
    for order in permutations(layers):
        env = quiz
        for layer in order:
            env = layer(env)
        assert env.reset(seed=1, idx=3)[1]["idx"] == 3
        assert asyncio.run(env.areset(idx=4))[1]["idx"] == 4


def test_the_async_twins_use_the_async_env_and_tools(quiz):
    used = []

    class Waiting(Tool):
        def parse(self, action: str, *, answer_format: str | None = None) -> Any:
            from gem.parsing import tagged

            return self.calls_from(tagged(action, "w"), "text")

        def execute(self, call: Any) -> str:
            return "sync"

        async def aexecute(self, call: Any) -> str:
            used.append(threading.current_thread() is threading.main_thread())
            await asyncio.sleep(0)
            return "async"

    class Inner(Wrapper):
        async def astep(self, action: Any) -> Any:
            used.append("env")
            return await super().astep(action)

    env = ToolEnvWrapper(Inner(quiz), tools=[Waiting()])
    env.reset()
    assert asyncio.run(env.astep("<w>1</w>"))[0] == "async"
    assert asyncio.run(env.astep("text"))[0] == "Well?"
    assert env.step("<w>1</w>")[0] == "sync"
    assert used == [True, "env"]
    assert not inspect.iscoroutinefunction(ToolEnvWrapper.step)


# --- hostile text ---


@pytest.mark.parametrize(
    "piece",
    [
        "<tool_call>",
        "</tool_call>",
        "<tool_call>{}</tool_call>",
        "<shout>",
        "<shout>x</shout>",
        "{",
        "<think>",
        "\0é😀\r\n",
        "```",
    ],
)
def test_hostile_text_costs_linear_time_and_never_raises(quiz, calculator, shout, piece):
    env = ToolEnvWrapper(quiz, tools=[calculator, shout], max_tool_uses=None)
    env.reset()
    observation, _, terminated, truncated, info = env.step(piece * (1_000_000 // len(piece)))
    assert (terminated, truncated) == (False, False)
    assert len(observation) < 2_000_000
    assert len(json.dumps(info)) < 5_000_000


PIECES = [
    ADD,
    MUL,
    "<shout>x</shout>",
    "<shout>",
    "<tool_call>",
    "</tool_call>",
    '{"name":',
    "<think>",
    "</think>",
    " x ",
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=12))
def test_any_mixture_of_calls_is_answered_alike_by_both_twins(quiz, calculator, shout, pieces):
    env = ToolEnvWrapper(type(quiz)(), tools=[type(calculator)(), type(shout)()])
    env.reset(seed=0)
    copy = env.spawn(same_state=True)
    action = "".join(pieces)
    result = env.step(action)
    assert asyncio.run(copy.astep(action)) == result
    assert env.unwrapped.seen == ([] if result[4]["use_tool"] else [action])
