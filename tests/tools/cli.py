"""Runs the command line that the environment variable GANTRY names, as its tests do."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import unittest


def without_progress(err):
    """Standard error without the lines that a long simulation adds, which depend on how busy the machine is."""
    return re.sub(rb"^simulating: .*\n", b"", err, flags=re.MULTILINE)


class Cli(unittest.TestCase):
    def gantry(self, *arguments, stdin=b"", status=0):
        """The bytes on standard output and on standard error of `gantry ARGUMENTS`, which must end with `status`."""
        done = subprocess.run([os.environ["GANTRY"], *arguments], input=stdin, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done.stdout, done.stderr

    def text(self, *arguments):
        out, err = self.gantry(*arguments)
        self.assertEqual(without_progress(err), b"")
        return out.decode()

    def on_terminal(self, columns, *arguments, status=0):
        """The lines that `gantry ARGUMENTS` shows on a terminal of so many columns."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        command = [os.environ["GANTRY"], *arguments]
        with subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=environment) as running:
            os.close(theirs)
            said = b""
            while True:
                try:
                    said += os.read(ours, 4096)
                except OSError:  # they have closed it
                    break
        os.close(ours)
        self.assertEqual(running.returncode, status, said)
        return said.decode().replace("\x1b[K", "").replace("\r", "\n").split("\n")

    def refused(self, *arguments, status=1):
        """What standard error says of arguments that must be refused."""
        out, err = self.gantry(*arguments, status=status)
        self.assertEqual(out, b"")
        return err.decode()

    def eval_bytes(self, lines, status=0, kind="layout_algebra"):
        """The answers to lines, which are bytes. Every answer must be an object, and there must be one for each line."""
        out, err = self.gantry("eval", kind, stdin=b"".join(line + b"\n" for line in lines), status=status)
        self.assertEqual(err, b"")
        answers = out.decode("utf-8").split("\n")
        self.assertEqual(answers.pop(), "")
        self.assertEqual(len(answers), len(lines))
        return [json.loads(answer) for answer in answers]

    def eval(self, *cases, status=0):
        """The answers to cases, which are dictionaries."""
        answers = self.eval_bytes([json.dumps(case).encode() for case in cases], status)
        return answers[0] if len(cases) == 1 else answers
