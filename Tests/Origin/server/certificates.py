# SPDX-License-Identifier: Apache-2.0
"""Authorities, leaves and keys, made by the openssl command at each start (OpenSSL 3.0 is enough)."""
import base64
import concurrent.futures
import hashlib
import pathlib
import ssl
import subprocess

PASSWORD = "secret"
NAMES = "DNS:origin.test,DNS:localhost,IP:127.0.0.1,IP:::1"
CONFIGURATION = """
[req]
distinguished_name = name
prompt = no
[name]
[root]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[intermediate]
basicConstraints = critical,CA:true,pathlen:0
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[ca]
default_ca = dated
[dated]
new_certs_dir = {folder}
database = {folder}/index
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
"""


class Certificates:
    """Files NAME.pem, NAME.der and NAME.key of every certificate in one folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.made = []
        self.configuration = self.file("openssl.cnf")
        self.configuration.write_text(CONFIGURATION.format(folder=self.folder))
        self.file("index").touch()

    def file(self, name):
        """A file of the folder."""
        return self.folder / name

    def make(self):
        """Makes all of them, as much at once as the order allows."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            slow = pool.submit(self.key, "rsa", "RSA")
            names = ["root", "intermediate", "leaf", "expired", "future", "wrong-name", "self-signed", "self-signed-cn",
                     "nameless", "other-root", "other-leaf", "client-root", "client", "stranger"]
            list(pool.map(self.key, names))
            self.file("renewed.key").write_bytes(self.file("leaf.key").read_bytes())
            list(pool.map(lambda call: call[0](*call[1:]), [
                (self.own, "root", "Reach Test Root", "root"),
                (self.own, "other-root", "Unrelated Root", "root"),
                (self.own, "client-root", "Reach Test Client Root", "root"),
                (self.own, "self-signed", "origin.test", None, NAMES),
                (self.own, "self-signed-cn", "origin.test", None, None),
                (self.own, "nameless", None, None, None),
                (self.own, "stranger", "stranger", None, None),
            ]))
            self.issue("intermediate", "Reach Test Intermediate", "root", section="intermediate")
            slow.result()
            list(pool.map(lambda call: call[0](*call[1:]), [
                (self.issue, "leaf", "origin.test", "intermediate"),
                (self.issue, "renewed", "origin.test", "intermediate"),
                (self.issue, "rsa", "origin.test", "intermediate"),
                (self.issue, "wrong-name", "other.test", "intermediate", "DNS:other.test"),
                (self.issue, "other-leaf", "origin.test", "other-root"),
                (self.issue, "client", "device-1", "client-root", None, "clientAuth"),
            ]))
            # The database of `openssl ca` takes one after the other.
            self.dated("expired", "20200101000000Z", "20210101000000Z")
            self.dated("future", "20480101000000Z", "20490101000000Z")
            list(pool.map(lambda call: self.openssl(*call), [
                ("pkcs8", "-topk8", "-in", self.file("client.key"), "-out", self.file("client-encrypted.key"),
                 "-v2", "aes-256-cbc", "-passout", "pass:" + PASSWORD),
                ("pkcs12", "-export", "-inkey", self.file("client.key"), "-in", self.file("client.pem"),
                 "-certfile", self.file("client-root.pem"), "-name", "device-1", "-passout", "pass:" + PASSWORD,
                 "-out", self.file("client.p12")),
            ]))
        for name in self.made:
            text = self.file(name + ".pem").read_text()
            self.file(name + ".der").write_bytes(ssl.PEM_cert_to_DER_cert(text))
            above = ["other-root" if name == "other-leaf" else "intermediate"]
            if name in ("leaf", "renewed", "rsa", "wrong-name", "expired", "future"):
                text += "".join(self.file(each + ".pem").read_text() for each in above)
            self.file(name + ".chain.pem").write_text(text)
        key = "".join(self.file("client.key").read_text().split("\n")[1:-2])
        self.file("client.key.der").write_bytes(base64.b64decode(key))

    def key(self, name, algorithm="EC"):
        """A private key: P-256, or RSA with 2048 bits."""
        options = ["-pkeyopt", "ec_paramgen_curve:P-256"] if algorithm == "EC" else ["-pkeyopt", "rsa_keygen_bits:2048"]
        self.openssl("genpkey", "-quiet", "-algorithm", algorithm, *options, "-out", self.file(name + ".key"))

    def own(self, name, common, section, names=None):
        """A certificate that its own key signs."""
        options = ["-extensions", section] if section else []
        if not section:
            options += ["-addext", "basicConstraints=CA:false"]
        if names:
            options += ["-addext", "subjectAltName=" + names]
        self.openssl(
            "req", "-x509", "-config", self.configuration, "-key", self.file(name + ".key"), "-days", "3650",
            "-subj", f"/CN={common}" if common else "/O=Nameless", "-out", self.file(name + ".pem"), *options)
        self.made.append(name)

    def request(self, name, common):
        """What an authority is asked to sign."""
        self.openssl("req", "-new", "-config", self.configuration, "-key", self.file(name + ".key"),
                     "-subj", f"/CN={common}", "-out", self.file(name + ".csr"))

    def extensions(self, name, names, purpose):
        """The extensions of a leaf, in a file."""
        lines = ["basicConstraints = CA:false", "keyUsage = digitalSignature", f"extendedKeyUsage = {purpose}",
                 "subjectKeyIdentifier = hash", "authorityKeyIdentifier = keyid"]
        if names:
            lines.append(f"subjectAltName = {names}")
        file = self.file(name + ".ext")
        file.write_text("\n".join(lines) + "\n")
        return file

    def issue(self, name, common, authority, names=NAMES, purpose="serverAuth", section=None):
        """A certificate that an authority signs."""
        self.request(name, common)
        extensions = ["-extfile", self.configuration, "-extensions", section] if section else \
            ["-extfile", self.extensions(name, names, purpose)]
        self.openssl(
            "x509", "-req", "-in", self.file(name + ".csr"), "-CA", self.file(authority + ".pem"),
            "-CAkey", self.file(authority + ".key"), "-set_serial", str(int.from_bytes(name.encode()[:16], "big")),
            "-days", "3650", *extensions, "-out", self.file(name + ".pem"))
        self.made.append(name)

    def dated(self, name, start, end):
        """A leaf that holds between these two times, both of which may be past: `x509` of 3.0 can only begin now."""
        self.request(name, "origin.test")
        self.openssl(
            "ca", "-batch", "-notext", "-config", self.configuration, "-in", self.file(name + ".csr"),
            "-cert", self.file("intermediate.pem"), "-keyfile", self.file("intermediate.key"), "-startdate", start,
            "-enddate", end, "-extfile", self.extensions(name, NAMES, "serverAuth"), "-out", self.file(name + ".pem"))
        self.made.append(name)

    def pins(self):
        """`sha256//…` of the public key of each, as curl's CURLOPT_PINNEDPUBLICKEY and RFC 7469 count it."""
        return {name: "sha256//" + base64.b64encode(
            hashlib.sha256(public_key(self.file(name + ".der").read_bytes())).digest()).decode() for name in self.made}

    def openssl(self, *arguments):
        """Runs the command; its words are shown where it fails."""
        result = subprocess.run(["openssl", *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True)
        if result.returncode:
            raise RuntimeError(f"openssl {' '.join(map(str, arguments))}: {result.stderr.decode(errors='replace')}")


def element(data, start):
    """Where the DER element at `start` has its content, and where it ends."""
    length, content = data[start + 1], start + 2
    if length & 0x80:
        count = length & 0x7F
        length, content = int.from_bytes(data[content:content + count], "big"), content + count
    return content, content + length


def public_key(certificate):
    """The SubjectPublicKeyInfo of a certificate (RFC 5280 §4.1), as it stands there."""
    place, _ = element(certificate, element(certificate, 0)[0])
    if certificate[place] == 0xA0:
        place = element(certificate, place)[1]
    # Serial number, signature, issuer, validity, subject.
    for _ in range(5):
        place = element(certificate, place)[1]
    return certificate[place:element(certificate, place)[1]]
