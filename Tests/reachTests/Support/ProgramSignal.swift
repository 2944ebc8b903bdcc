// SPDX-License-Identifier: Apache-2.0

/// A signal to a program that has blocked it, as commands do before they wait.
enum ProgramSignal {
    /// The lines of a shell that run `command`, send it the signal, and end with its exit code, which is 137
    /// where the signal was not noticed.
    ///
    /// - Parameter pause: the seconds between the blocking and the signal.
    static func script(_ name: String, _ command: String, after pause: Int = 0) -> String {
        // SIGINT and SIGTERM are the bits 0x4002 (proc_pid_status(5));
        // Z is a program that has ended, and the shell may have reaped it.
        // What stands before the lines and ends with && does not belong to the command.
        """
        :
        \(command) & p=$!
        alive() { grep -Eqs '^State:.[^Z]' /proc/$p/status; }
        while alive && ! grep -Eqs '^SigBlk:.*4002' /proc/$p/status; do sleep 0.05; done
        sleep \(pause); kill -\(name) $p; n=0
        while alive; do sleep 0.05; n=$((n+1)); [ $n -lt 60 ] || kill -KILL $p; done
        wait $p
        """
    }
}
