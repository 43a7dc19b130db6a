"""Calls that block, for coroutines."""

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any


async def in_executor(call: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Run the call in the event loop's executor."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, functools.partial(call, *args, **kwargs))
