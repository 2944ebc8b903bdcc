# SPDX-License-Identifier: Apache-2.0
"""nginx on the loopback of a namespace, with a certificate of its own; everything it serves and takes is in memory.

The namespace has a default route, as a device that is online: without one each request is examined whether it needs the network."""
import os
import re
import shutil
import socket
import subprocess
import time

from harness import placement
from harness.process import Scratch

HERE = os.path.dirname(os.path.abspath(__file__))
ORIGINS = {'http': 'http://127.0.0.1:8080', 'https, HTTP/1.1': 'https://127.0.0.1:8443', 'https, HTTP/2': 'https://127.0.0.1:8444'}
SMALL, SHORT, MEDIUM, LONG = 1 << 10, 1 << 20, 1 << 28, 1 << 30
DOCUMENTS = {SMALL: '1k', SHORT: '1m', MEDIUM: '256m', LONG: '1g'}


class Server:
    """The server, as a context."""

    def __init__(self, namespaces):
        self.namespaces, self.run = namespaces, Scratch.file()
        self.certificate = os.path.join(self.run, 'certificate.pem')

    def __enter__(self):
        self.namespaces.restore()
        for name in ('documents', 'uploads'):
            os.makedirs(os.path.join(self.run, name))
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30',
                        '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1',
                        '-keyout', os.path.join(self.run, 'key.pem'), '-out', self.certificate], check=True, capture_output=True)
        with open(os.path.join(HERE, 'nginx.conf')) as template, open(self._path('nginx.conf'), 'w') as configuration:
            configuration.write(template.read().replace('@RUN@', self.run))
        with open(self._path('errors'), 'w') as errors:
            self.process = subprocess.Popen(
                self.namespaces.inside('nginx', '-c', self._path('nginx.conf'), '-e', self._path('error.log')), stdin=subprocess.DEVNULL,
                stdout=errors, stderr=errors, start_new_session=True, preexec_fn=placement.ahead(placement.LOAD))
        end = time.monotonic() + 10
        while time.monotonic() < end and self.process.poll() is None:
            try:
                self.connections()
                return self
            except OSError:
                time.sleep(.02)
        said = open(self._path('errors')).read().strip()
        self.__exit__()
        raise RuntimeError(f'nginx did not start: {said}')

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        shutil.rmtree(self.run, ignore_errors=True)

    def _path(self, name):
        return os.path.join(self.run, name)

    def document(self, size):
        """The file of this size, made when it is first asked for."""
        path = os.path.join(self.run, 'documents', DOCUMENTS[size])
        if not os.path.exists(path):
            block = os.urandom(min(size, 1 << 20))
            with open(path, 'wb') as file:
                for _ in range(size // len(block)):
                    file.write(block)
        return path

    def url(self, protocol, size):
        self.document(size)
        return f'{ORIGINS[protocol]}/{DOCUMENTS[size]}'

    def upload_url(self, protocol):
        return f'{ORIGINS[protocol]}/uploads/sent'

    def uploaded(self):
        return os.path.join(self.run, 'uploads', 'sent')

    def connections(self):
        """How many connections were accepted since its start, without those that asked for this figure."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(5)
            s.connect(self._path('status'))
            s.sendall(b'GET / HTTP/1.0\r\n\r\n')
            answer = b''
            while part := s.recv(4096):
                answer += part
        self.asked = getattr(self, 'asked', 0) + 1
        return int(re.search(rb'\n\s*(\d+)\s+\d+\s+\d+', answer)[1]) - self.asked
