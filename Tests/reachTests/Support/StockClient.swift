// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

/// The Python package `varlink`, a client from outside this project.
enum StockClient {
    /// The folder in which `packaging/bootstrap --tests` installs it.
    static let folder: String = {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        return "/\(root)/.build-python"
    }()

    /// Whether its tests run: if it is installed, and if tests must not be skipped.
    static let isAvailable = access(folder + "/varlink", F_OK) == 0 || NetworkLab.isRequired

    /// A Python program that uses it.
    static func command(_ program: String, _ arguments: String...) -> [String] {
        ["env", "PYTHONPATH=\(folder)", "PYTHONDONTWRITEBYTECODE=1", "python3", "-u", "-c", program]
            + arguments
    }

    /// Makes all calls once and then watches: a line for each reply.
    static let watching = """
        import sys, varlink
        with varlink.Client.new_with_address("unix:" + sys.argv[1]) as client:
            with client.open("org.varlink.service") as service:
                print("info", service.GetInfo()["product"], service.GetInfo()["interfaces"])
            with client.open("io.reach.Reachability") as reach:
                print("methods", len(client.get_interface("io.reach.Reachability").members))
                status = reach.GetStatus()
                print("status", status["status"], status["interface"], status["links"][0]["name"])
                try:
                    reach.Wait(goal="wifi", timeout=0)
                except varlink.VarlinkError as error:
                    print("error", error.error())
                for change in reach.Monitor(_more=True):
                    print("monitor", change["event"], change["status"], change.get("previous"))
        """

    /// A thousand silent connections, kept until standard input ends; then random bytes, and the status at
    /// last.
    static let crowd = """
        import random, resource, socket, sys, varlink
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
        def connect():
            client = socket.socket(socket.AF_UNIX)
            client.connect(sys.argv[1])
            return client
        idle = [connect() for _ in range(1000)]
        noise = random.Random(7)
        for _ in range(200):
            client = connect()
            try:
                client.sendall(noise.randbytes(5000))
            except OSError:
                pass
        endless = connect()
        try:
            while True:
                endless.sendall(b"a" * 65536)
        except OSError:
            pass
        with varlink.Client.new_with_address("unix:" + sys.argv[1]) as client, client.open("io.reach.Reachability") as reach:
            print("served", reach.GetStatus()["status"])
        """

    /// The permissions of a user, by a client of three lines that every user can read.
    static func rights(_ socket: String) -> [String] {
        let program = """
            import json, socket, sys
            client = socket.socket(socket.AF_UNIX)
            client.connect(sys.argv[1])
            for method, padding in ("GetStatus", 0), ("ListOutbox", 0), ("GetStatus", 100000):
                call = json.dumps({"method": "io.reach.Reachability." + method}) + " " * padding
                try:
                    client.sendall(call.encode() + b"\\0")
                except OSError:
                    pass
                reply = b""
                while not reply.endswith(b"\\0"):
                    reply += client.recv(65536)
                reply = json.loads(reply[:-1])
                print(reply.get("error") or reply["parameters"].get("status", "entries"))
            """
        return ["/usr/bin/python3", "-c", program, socket]
    }
}
