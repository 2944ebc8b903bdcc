# SPDX-License-Identifier: Apache-2.0
"""A download by aiohttp, as its documentation shows it: aiohttp_get.py URL FILE."""
import asyncio
import sys

import aiohttp


async def main(url, path):
    async with aiohttp.ClientSession() as session:
        async with session.get(url) as response:
            response.raise_for_status()
            with open(path, 'wb') as file:
                async for piece in response.content.iter_chunked(64 << 10):
                    file.write(piece)


asyncio.run(main(*sys.argv[1:]))
