# SPDX-License-Identifier: Apache-2.0
"""A server that looks dead for a while: alive.py ADDRESS PORT. Prints `ready`, and on SIGTERM the address of the client of each request.

/?silent=S    half of the content, S seconds of silence, the rest
/?drip=S      a byte a second for S seconds
/?late=S      the answer begins after S seconds
/?plain=N     N bytes at once"""
import asyncio
import signal
import sys
import urllib.parse

SIZE = 128 << 10
peers = []


async def answer(reader, writer):
    try:
        line = (await reader.readline()).decode()
        while (await reader.readline()).strip():
            pass
        path = line.split()[1]  # connections without a request do not count
        peers.append(writer.get_extra_info('peername')[0])
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(path).query))
        if 'late' in query:
            await asyncio.sleep(float(query['late']))
        size = int(query.get('drip') or query.get('plain') or SIZE)
        writer.write(f'HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nConnection: close\r\nETag: "1"\r\n\r\n'.encode())
        if 'drip' in query:
            for _ in range(size):
                await asyncio.sleep(1)
                writer.write(b'.')
                await writer.drain()
        elif 'silent' in query:
            writer.write(b'.' * (size // 2))
            await writer.drain()
            await asyncio.sleep(float(query['silent']))
            writer.write(b'.' * (size - size // 2))
        else:
            writer.write(b'.' * size)
        await writer.drain()
        writer.close()
        await writer.wait_closed()
    except (OSError, IndexError, asyncio.IncompleteReadError, asyncio.CancelledError):
        writer.close()


async def main():
    server = await asyncio.start_server(answer, sys.argv[1], int(sys.argv[2]), backlog=4096)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    print('ready', flush=True)
    await ended.wait()
    server.close()
    print(*peers, flush=True)


asyncio.run(main())
