"""What stands in for Python or a command: hands all that it was given to the server of `shims`.

It starts in a hundredth of a second, for it imports only what Python itself is built of. Signals
are handed on, and the exit status comes back. What is not served here becomes the real program.
"""

import _signal
import _socket
import marshal
import os
import sys

HANDED_ON = (_signal.SIGHUP, _signal.SIGINT, _signal.SIGTERM, _signal.SIGUSR1, _signal.SIGUSR2)
NOT_SERVED = 1000  # in the place of an exit status


def inherited() -> list[int]:
    """Return the numbers of the open files that this process was given."""
    found = []
    for number in map(int, os.listdir("/dev/fd")):
        try:
            if number < 3 or os.get_inheritable(number):
                found.append(number)
        except OSError:  # that of the listing itself
            pass
    return found


def ask(talk: _socket.socket, program: str, words: list[str]) -> int:
    """Send what this process was given; return an exit status, negative for a signal."""
    numbers, mask = inherited(), os.umask(0)
    os.umask(mask)
    ignored = [n for n in HANDED_ON if _signal.getsignal(n) == _signal.SIG_IGN]
    given = (program, words, os.getcwd(), dict(os.environ), mask, os.getpgrp(), ignored, numbers)
    request = marshal.dumps(given)
    files = b"".join(number.to_bytes(4, sys.byteorder) for number in numbers)
    talk.sendmsg(
        [len(request).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)]
    )
    talk.sendall(request)
    for number in HANDED_ON:
        if number not in ignored:
            _signal.signal(number, lambda number, _: talk.send(bytes([number])))
    return int.from_bytes(talk.recv(4), "big", signed=True)


def main(address: str, real: str, program: str, *words: str) -> None:
    """Be a program, whose real one lies in a folder ``real``; the server listens at an address."""
    talk = _socket.socket(_socket.AF_UNIX)
    talk.connect(address)
    status = ask(talk, program, list(words))
    if status == NOT_SERVED:
        for number in HANDED_ON:
            if _signal.getsignal(number) != _signal.SIG_IGN:
                _signal.signal(number, _signal.SIG_DFL)
        _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
        program = f"{real}/{os.path.basename(program)}"
        os.execv(program, [program, *words])
    if status < 0:
        if -status != _signal.SIGKILL:
            _signal.signal(-status, _signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
