"""Runs a program as on a kernel without wireless extensions: without_wext.py PROGRAM [ARGUMENT…].

Every ioctl of theirs (0x8B00 to 0x8BFF) is answered with ENOTTY by a seccomp filter, as such a kernel answers it;
/proc/net/wireless is empty in a mount namespace of its own. What stays is IFLA_WIRELESS in link messages, which
says no more than that an event happened.
"""
import ctypes
import errno
import os
import struct
import sys

CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_EQUAL, AND, RETURN = 0x20, 0x15, 0x54, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000
AUDIT_ARCH_X86_64, SYS_IOCTL = 0xC000003E, 16

filters = [
    (LOAD, 0, 0, 4), (JUMP_EQUAL, 0, 5, AUDIT_ARCH_X86_64),
    (LOAD, 0, 0, 0), (JUMP_EQUAL, 0, 3, SYS_IOCTL),
    (LOAD, 0, 0, 24), (AND, 0, 0, 0xFFFFFF00), (JUMP_EQUAL, 1, 0, 0x8B00),
    (RETURN, 0, 0, ALLOW),
    (RETURN, 0, 0, FAIL | errno.ENOTTY),
]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in filters))


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


libc = ctypes.CDLL(None, use_errno=True)


def checked(call, *arguments):
    if call(*arguments):
        sys.exit(f"without_wext: {call.__name__}: {os.strerror(ctypes.get_errno())}")


checked(libc.unshare, CLONE_NEWNS)
checked(libc.mount, b"none", b"/", None, MS_REC | MS_PRIVATE, None)
checked(libc.mount, b"/dev/null", b"/proc/self/net/wireless", None, MS_BIND, None)
program = Program(len(filters), ctypes.addressof(code))
checked(libc.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
checked(libc.prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
