"""Child processes that may hang or die: each answer has a deadline, and none outlives gpu-check."""
import contextlib
import json
import os
import select
import subprocess
import tempfile

END_S = 1  # to end by itself once its pipe is closed
LEAVING_S = 15  # of a process that has closed its output: what it had of a GPU goes back first


class Child:
    """Answers in lines of JSON on standard output. Both programs end with the process that started them."""

    def __init__(self, command):
        self._words = tempfile.TemporaryFile()
        self._rest = b""
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._words, bufsize=0
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    @property
    def pid(self):
        return self._process.pid

    def say(self, command):
        with contextlib.suppress(BrokenPipeError):  # that it died shows when it does not answer
            self._process.stdin.write(json.dumps(command).encode() + b"\n")

    def answer(self, deadline):
        """The next line; None at its end. Throws TimeoutError."""
        while b"\n" not in self._rest:
            if not select.select([self._process.stdout], [], [], deadline.left())[0]:
                self._process.kill()
                raise TimeoutError
            more = os.read(self._process.stdout.fileno(), 1 << 16)
            if not more:
                return None
            self._rest += more
        line, self._rest = self._rest.split(b"\n", 1)
        return json.loads(line)

    def how_it_died(self):
        """For who got None: the exit code and the last words."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(LEAVING_S)
        self._words.seek(0)
        words = self._words.read()[-1000:].decode(errors="replace").strip()
        code = self._process.returncode
        how = f"exit code {code}" if code is None or code >= 0 else f"signal {-code}"
        return f"it died ({how}){': ' + words if words else ''}"

    def exit_code(self):
        return self._process.returncode

    def end(self):
        self._process.stdin.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # a driver may hold it in the kernel
                self._process.wait(END_S)
        self._process.stdout.close()
        self._words.close()


class Worker(Child):
    """fleetbench-gpu-worker for one GPU, or for whichever there are; see probes/support/serve.hpp."""

    def __init__(self, program, uuid=""):
        super().__init__([program, "--serve", str(os.getpid())] + ([uuid] if uuid else []))

    def ask(self, deadline, **command):
        """Its answer; where none comes one with "status" and "reason", after which it is of no use."""
        self.say(command)
        try:
            answer = self.answer(deadline)
        except TimeoutError:
            reason = f"{command['cmd']} did not end within {deadline.seconds:.1f} s; process {self.pid} was ended"
            return {"status": "timeout", "reason": reason, "spent": True}
        if answer is None:
            return {"status": "failed", "reason": f"{command['cmd']}: {self.how_it_died()}", "spent": True}
        return answer

    def is_simulated(self):
        """Whether its CUDA is that of tests/gpu_sim: by what it has loaded, whoever set its path."""
        with contextlib.suppress(OSError):
            with open(f"/proc/{self.pid}/maps", encoding="utf-8", errors="replace") as maps:
                return any("libfleetbench_gpu_model" in line for line in maps)
        return False
