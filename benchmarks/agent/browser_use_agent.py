"""browser-use's agent; run by the Python of the environment that has it.

Reads one JSON object from standard input: `goal`, `url`, `model_url`, `steps`, `seconds`, `chromium`,
`window`, `excluded`. Writes one to standard output: `claimed`, `steps`, `asked`, `cached`, `answered`,
`note`.

Its settings are those for a small model: flash mode (its short rules, no plan, no judgement), no pictures,
the schema in words, as a server of one's own does not show it to the model.
"""

# pyright: basic, reportMissingImports=false
import asyncio
import json
import os
import sys
from typing import Any

os.environ |= {"ANONYMIZED_TELEMETRY": "false", "BROWSER_USE_CLOUD_SYNC": "false"}
os.environ |= {"BROWSER_USE_LOGGING_LEVEL": "result", "BROWSER_USE_SETUP_LOGGING": "false"}

from browser_use import Agent, Browser, ChatOpenAI, Tools


async def attempt(asked: dict[str, Any]) -> dict[str, Any]:
    """Do one episode."""
    model = ChatOpenAI(
        model="qwen",
        base_url=asked["model_url"],
        api_key="none",
        temperature=0,
        frequency_penalty=None,
        max_completion_tokens=asked["window"] // 10,
        add_schema_to_system_prompt=True,
        timeout=asked["seconds"],
        max_retries=0,
    )
    browser = Browser(
        headless=True,
        executable_path=asked["chromium"],
        chromium_sandbox=False,
        enable_default_extensions=False,
        user_data_dir=None,
    )
    agent = Agent(
        task=asked["goal"],
        llm=model,
        browser=browser,
        tools=Tools(exclude_actions=asked["excluded"]),
        directly_open_url=False,
        use_vision=False,
        use_thinking=False,
        flash_mode=True,
        use_judge=False,
        enable_planning=False,
        max_actions_per_step=5,
        llm_timeout=int(asked["seconds"]),
        step_timeout=int(asked["seconds"]),
        enable_signal_handler=False,
    )
    await browser.start()
    await browser.navigate_to(asked["url"])
    try:
        history = await asyncio.wait_for(agent.run(max_steps=asked["steps"]), asked["seconds"])
        note = history.final_result() or "; ".join(str(error)[:150] for error in history.errors() if error)
        claimed, steps = bool(history.is_successful()), history.number_of_steps()
    except TimeoutError:
        note, claimed, steps = "out of time", False, agent.state.n_steps - 1
    used = await agent.token_cost_service.get_usage_summary()
    return {
        **{"claimed": claimed, "steps": steps, "note": note[:200]},
        "asked": used.total_prompt_tokens,
        "cached": used.total_prompt_cached_tokens,
        "answered": used.total_completion_tokens,
    }


def main() -> None:
    """Do what standard input asks for."""
    out = os.dup(1)
    # What it prints by itself goes to standard error.
    os.dup2(2, 1)
    result = asyncio.run(attempt(json.load(sys.stdin)))
    os.write(out, json.dumps(result).encode())
    os._exit(0)


if __name__ == "__main__":
    main()
