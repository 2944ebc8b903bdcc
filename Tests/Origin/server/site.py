# SPDX-License-Identifier: Apache-2.0
"""The listeners, and nginx in front of most of them."""
import asyncio
import collections
import ctypes
import os
import shutil
import signal
import socket
import ssl
import subprocess

# What nginx serves under TLS: listener → certificate, further directives.
SECURE = {
    "https": ("leaf", ""),
    "h2": ("leaf", ""),
    "mtls": ("leaf", "ssl_client_certificate {folder}/client-root.pem; ssl_verify_client on;"),
    "tls12": ("leaf", "ssl_protocols TLSv1.2;"),
    "rsa": ("rsa", ""),
    "renewed": ("renewed", ""),
    "expired": ("expired", ""),
    "future": ("future", ""),
    "wrong-name": ("wrong-name", ""),
    "other-authority": ("other-leaf", ""),
    "incomplete": ("leaf", ""),
    "self-signed": ("self-signed", ""),
    "self-signed-cn": ("self-signed-cn", ""),
    "nameless": ("nameless", ""),
}
# What the application serves itself, except that `refused` has no listener and `blackhole` accepts nothing.
DIRECT = ["direct", "direct-tls", "mtls-strict", "proxy", "proxy-auth", "socks", "socks-auth", "silent", "reset", "refused", "blackhole"]
# Sparse files of zeroes for measurements, served by nginx alone.
FILES = {"0": 0, "1k": 1 << 10, "64k": 1 << 16, "1m": 1 << 20, "16m": 1 << 24, "256m": 1 << 28, "1g": 1 << 30}

HTTP = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr notice;
worker_rlimit_nofile {files};
events {{ worker_connections {connections}; multi_accept on; }}
http {{
    access_log off;
    default_type application/octet-stream;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 3600s;
    keepalive_requests 1000000000;
    client_header_timeout 3600s;
    client_body_timeout 3600s;
    send_timeout 3600s;
    ssl_protocols TLSv1.2 TLSv1.3;
    client_max_body_size 0;
    large_client_header_buffers 8 256k;
    ignore_invalid_headers off;
    underscores_in_headers on;
    merge_slashes off;
    client_body_temp_path {folder}/temporary;
    proxy_temp_path {folder}/temporary;
    fastcgi_temp_path {folder}/temporary;
    uwsgi_temp_path {folder}/temporary;
    scgi_temp_path {folder}/temporary;
    upstream application {{
        server unix:{folder}/application.sock;
        keepalive 256;
        keepalive_requests 1000000000;
        keepalive_timeout 3600s;
    }}
    # Nothing may be repeated, buffered or polished: tests count requests and look at faults.
    proxy_http_version 1.1;
    proxy_buffering off;
    proxy_request_buffering off;
    proxy_next_upstream off;
    proxy_max_temp_file_size 0;
    proxy_buffer_size 256k;
    proxy_buffers 8 256k;
    proxy_busy_buffers_size 256k;
    proxy_read_timeout 3600s;
    proxy_send_timeout 3600s;
    proxy_pass_header Date;
    proxy_pass_header Server;
    {servers}
}}
"""
SERVER = """
    server {{
        {listen}
        {tls}
        proxy_set_header X-Proxied-Listener {name};
        proxy_set_header Host $http_host;
        proxy_set_header Connection "";
        proxy_set_header X-Proxied-Connection $connection;
        proxy_set_header X-Proxied-Requests $connection_requests;
        proxy_set_header X-Proxied-Protocol $server_protocol;
        proxy_set_header X-Proxied-Scheme $scheme;
        proxy_set_header X-Proxied-Peer $remote_addr:$remote_port;
        proxy_set_header X-Proxied-TLS $ssl_protocol;
        proxy_set_header X-Proxied-Cipher $ssl_cipher;
        proxy_set_header X-Proxied-Offered $ssl_ciphers;
        proxy_set_header X-Proxied-SNI $ssl_server_name;
        proxy_set_header X-Proxied-Resumed $ssl_session_reused;
        proxy_set_header X-Proxied-Verified $ssl_client_verify;
        proxy_set_header X-Proxied-Client $ssl_client_s_dn;
        location / {{ proxy_pass http://application; }}
        location /file/ {{ alias {folder}/files/; }}
    }}
"""


def bound(address, port):
    """A socket of this address that does not listen yet; None where the address is not there."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        sock = socket.socket(family, socket.SOCK_STREAM)
    except OSError:
        return None
    sock.setblocking(False)
    # nginx binds a socket of its own beside this one; no other process gets the port meanwhile (socket(7)).
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((address, port))
        return sock
    except OSError:
        sock.close()
        return None


def pair():
    """The same free port on 127.0.0.1 and, where there is one, on ::1."""
    spare = []
    while True:
        first = bound("127.0.0.1", 0)
        if first is None:
            raise RuntimeError("no free port on 127.0.0.1: is lo up?")
        second = bound("::1", first.getsockname()[1])
        lacking = second is None and bound("::1", 0) is None
        if second or lacking or len(spare) > 100:
            return [first, second] if second else [first]
        # Another process has this port on ::1 alone; it stays ours until another is found.
        spare.append(first)


class Site:
    """The ports and the process of nginx."""

    def __init__(self, folder):
        self.folder = folder
        self.sockets = {name: pair() for name in ["http", *SECURE, *DIRECT]}
        for name, sockets in self.sockets.items():
            for sock in sockets:
                if name == "blackhole":
                    sock.listen(0)
                elif name in DIRECT and name != "refused":
                    sock.listen(4096)
        self.ports = {name: sockets[0].getsockname()[1] for name, sockets in self.sockets.items()}
        self.crowd = [self.fill(sock) for sock in self.sockets["blackhole"]]
        self.process = None
        self.said = collections.deque(maxlen=100)

    def fill(self, listener):
        """Connections that are never accepted: with the queue full, the kernel drops the SYN of the next."""
        crowd = []
        for _ in range(2):
            sock = socket.socket(listener.family, socket.SOCK_STREAM)
            sock.setblocking(False)
            sock.connect_ex(listener.getsockname())
            crowd.append(sock)
        return crowd

    def configuration(self, connections):
        """The text of nginx.conf."""
        servers = []
        for name in ["http", *SECURE]:
            options = " reuseport backlog=4096" + ("" if name == "http" else " ssl") + (" http2" if name == "h2" else "")
            hosts = ["127.0.0.1", "[::1]"][:len(self.sockets[name])]
            listen = " ".join(f"listen {host}:{self.ports[name]}{options};" for host in hosts)
            tls = ""
            if name != "http":
                certificate, more = SECURE[name]
                chain = certificate + ("" if name == "incomplete" else ".chain")
                tls = f"ssl_certificate {self.folder}/{chain}.pem; ssl_certificate_key {self.folder}/{certificate}.key; " \
                    + more.format(folder=self.folder)
            servers.append(SERVER.format(name=name, listen=listen, tls=tls, folder=self.folder))
        return HTTP.format(folder=self.folder, servers="".join(servers), connections=connections, files=connections * 2)

    async def start(self, files):
        """Starts nginx and waits until it listens."""
        program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if not program:
            raise RuntimeError("nginx is not installed; packaging/bootstrap --tests installs what the tests need")
        os.makedirs(f"{self.folder}/files")
        for name, size in FILES.items():
            with open(f"{self.folder}/files/{name}", "wb") as file:
                file.truncate(size)
        with open(f"{self.folder}/nginx.conf", "w", encoding="utf-8") as file:
            file.write(self.configuration(max(512, min(16384, files // 2))))
        self.process = await asyncio.create_subprocess_exec(
            program, "-p", self.folder, "-c", f"{self.folder}/nginx.conf", "-e", "stderr",
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=die_together)
        # It says so when it has opened its sockets.
        while line := await self.words():
            if b"event method" in line:
                return
        raise RuntimeError(f"nginx does not start:\n{self.log()}")

    async def words(self):
        """The next line of what nginx says; empty at its end."""
        line = await self.process.stderr.readline()
        self.said.append(line.decode(errors="replace"))
        return line

    def log(self):
        """What nginx has said last."""
        return "".join(self.said)

    async def stop(self):
        """Ends nginx."""
        if self.process and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    def client_demanded(self):
        """TLS that ends with the handshake where the client has no certificate; nginx answers 400 instead."""
        context = self.plain_tls()
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(f"{self.folder}/client-root.pem")
        return context

    def plain_tls(self):
        """TLS for what the application serves itself."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{self.folder}/leaf.chain.pem", f"{self.folder}/leaf.key")
        context.set_alpn_protocols(["http/1.1"])
        return context


def die_together():
    """Between fork and exec of nginx: the kernel kills it when this process ends however it ends (prctl(2))."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
