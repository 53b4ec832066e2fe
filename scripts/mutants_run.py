# SPDX-License-Identifier: Apache-2.0
"""Runs the test programs of a build that holds mutants: which tests pass by which mutant, and whether one of them
fails. For mutants(1)."""
import collections
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

ROW, MOST_TESTS = 16384, 1000  # as in tests/mutants/groups.c
GIGABYTE, ADDRESSES = 1 << 30, 64  # gigabytes of addresses that the stand-in for CUDA reserves, and never uses again
FAILED, BEGUN = re.compile(rb"\[  FAILED  \] (\w+)"), re.compile(rb"\[ RUN      \] (\w+)")
QUICK = (0.3, 3.0)  # seconds: tests up to the first run first, those above the second last
Test = collections.namedtuple("Test", "mode program number name seconds")
DEFAULT, CUDA = MODES = ("default", "cuda")


def modes_of(source):
    """mode -> ([(programs, programs left out)], environment): the rows of tests/runner/modes."""
    rows = [line.split() for line in (source / "tests/runner/modes").read_text().splitlines() if line[:1] != "#"]
    found = {}
    for row in rows:
        if row and "debug" in row[1].split(",") and row[0] in MODES:
            found.setdefault(row[0], []).append(row)
    return {mode: ([(re.compile(row[3]), re.compile(row[4])) for row in of],
                   dict(word.split("=", 1) for word in of[0][5:] if word != "-")) for mode, of in found.items()}


class Runner:
    def __init__(self, build, source, work, modes, tests, memory, slowest, longest, budget):
        self.build, self.source, self.work, self.tests = build, source, work, tests
        self.memory, self.slowest, self.longest, self.budget = memory, slowest, longest, budget
        self.modes = {mode: row for mode, row in modes_of(source).items() if mode in modes}
        self.nvrtc = subprocess.run([str(source / "scripts/find_nvrtc")], capture_output=True, text=True).stdout.strip()
        if CUDA in self.modes and not self.nvrtc:
            print("there is no NVRTC (scripts/setup cuda): no tests of mode cuda", file=sys.stderr)
            del self.modes[CUDA]
        self.passes_by = {}  # mutant's number -> tests
        self.alone = {}  # (mode, program, numbers of tests): do they pass without a mutant and the program's others?

    def environment(self, mode, **more):
        own = self.work / "tmp" / str(threading.get_ident())
        own.mkdir(parents=True, exist_ok=True)
        if mode == CUDA:  # what the stand-in has compiled it knows by a hash of the text: other mutants may find it
            more = dict(self.modes[CUDA][1], WICK_CUDA_PATH=str(self.build / "standin"), STANDIN_NVRTC=self.nvrtc,
                        STANDIN=str(self.work / "standin"), **more)
        return dict(os.environ, POCL_DEVICES="basic pthread", POCL_MAX_PTHREAD_COUNT="1",
                    POCL_CACHE_DIR=str(self.work / "pocl"), WICK_CACHE_DIR="off", MALLOC_PERTURB_="85",
                    WICK_BUILD=str(self.build), WICK_SOURCE=str(self.source), WICK_WORK=str(own),
                    WICK_CHECK_DIR=str(own), **more)

    def limits(self, mode):
        memory = (self.memory + (ADDRESSES if mode == CUDA else 0)) * GIGABYTE
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (8 * GIGABYTE, 8 * GIGABYTE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def fails(self, mode, command, seconds, **more):
        """What went wrong, (how, the test's name if it is known), how being "a test", "the end" (a crash, a leak) or
        "the time"; None if nothing did. Nobody waits for what comes after it."""
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, cwd=self.source, env=self.environment(mode, **more),
                                   preexec_fn=lambda: self.limits(mode), start_new_session=True)
        late = threading.Event()

        def stop():
            late.set()
            end_session(process.pid)

        clock = threading.Timer(seconds, stop)
        clock.start()
        last, failed = b"", False
        try:
            while not failed:
                some = os.read(process.stdout.fileno(), 1 << 16)
                if not some:
                    break
                last = (last + some)[-(1 << 16):]
                failed = FAILED.search(last)
        finally:
            clock.cancel()
            if failed:
                end_session(process.pid)
            process.stdout.close()
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            late.set()
        end_session(process.pid)
        process.wait()
        begun = BEGUN.findall(last)
        name = failed[1] if failed else begun[-1] if begun else b""
        if not (failed or late.is_set() or status):
            return None
        return ("a test" if failed else "the time" if late.is_set() else "the end"), name.decode()

    # ---- which tests pass by which mutant ----------------------------------------------------------------------------

    def programs(self):
        """All that are built, in each mode in which they are run."""
        names = sorted(p.name for p in (self.build / "tests").iterdir() if p.is_file() and os.access(p, os.X_OK))
        names = [name for name in names if name != "random_programs" and re.search(self.tests, name)]
        return [(mode, name) for mode, (rows, _) in self.modes.items() for name in names
                if any(wanted.fullmatch(name) and not unwanted.fullmatch(name) for wanted, unwanted in rows)]

    def learn(self, jobs):
        """Runs each program once without a mutant. What has been learnt of a program holds until it changes."""
        programs = self.programs()
        (self.work / "learnt").mkdir(exist_ok=True)
        with ThreadPoolExecutor(jobs) as pool:
            for (mode, program), learnt in zip(programs, pool.map(self.learn_program, programs)):
                if learnt["wrong"]:
                    print(f"{mode} {program}: left out, it fails without a mutant ({learnt['wrong']})", file=sys.stderr)
                    continue
                for number, name, seconds, seen in learnt["tests"]:
                    for mutant in set(learnt["outside"] + seen):
                        self.passes_by.setdefault(mutant, []).append(Test(mode, program, number, name, seconds))

    def learn_program(self, which):
        mode, program = which
        path = self.build / "tests" / program
        notes = self.work / "learnt"
        note = notes / f"{mode}-{program}-{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}-{self.slowest}.json"
        if not note.exists():
            for old in notes.glob(f"{mode}-{program}-*"):
                old.unlink()
            note.write_text(json.dumps(self.watch(mode, program)))
        return json.loads(note.read_text())

    def watch(self, mode, program):
        seen = self.work / f"seen-{mode}-{program}"
        names = self.work / f"{seen.name}.tests"
        names.write_text("")
        with open(seen, "w+b") as file:
            def row(k):
                file.seek(ROW * k)
                flags = file.read(ROW)
                return [n for n in range(ROW) if flags[n]]

            file.truncate(ROW * (MOST_TESTS + 1))
            wrong = self.fails(mode, [str(self.build / "tests" / program)], self.slowest, WICK_MUTANT_SEEN=str(seen))
            found = []
            for line in names.read_text().splitlines() if not wrong else []:
                number, seconds, name = line.split(" ", 2)
                found.append([int(number), name, float(seconds), row(int(number) + 1)])
            outside = row(0)
        seen.unlink(), names.unlink()
        return {"wrong": wrong and " ".join(wrong), "tests": found, "outside": outside}

    # ---- one mutant --------------------------------------------------------------------------------------------------

    def run_tests(self, mode, program, tests, **more):
        seconds = 10 + 10 * sum(t.seconds for t in tests)
        return self.fails(mode, [str(self.build / "tests" / program)], seconds,
                          WICK_MUTANT_TESTS=" ".join(str(t.number) for t in tests), **more)

    def pass_alone(self, mode, program, tests, name):
        """A test may need what those before it have left. So what fails under a mutant is run without it."""
        tests = [t for t in tests if t.name == name] or tests
        some = (mode, program, tuple(t.number for t in tests))
        if some not in self.alone:
            self.alone[some] = self.run_tests(mode, program, tests) is None
        return self.alone[some]

    def killer(self, mutant):
        """(program.test, how, seconds until then) of the first test that fails; None if none does. Programs run with
        the tests that pass by the mutant, as long as the budget lasts: first the quick ones of all programs, then the
        longer ones."""
        began, spent = time.time(), 0
        tests = self.passes_by.get(mutant.number, [])
        for low, high in zip((0, *QUICK), (*QUICK, self.longest)):
            some = collections.defaultdict(list)
            for test in tests:
                if low <= test.seconds < high:
                    some[test.mode, test.program].append(test)
            for (mode, program), chosen in sorted(some.items(), key=lambda item: sum(t.seconds for t in item[1])):
                spent += sum(t.seconds for t in chosen)
                if spent > self.budget:
                    return None
                wrong = self.run_tests(mode, program, chosen, WICK_MUTANT=str(mutant.number))
                if wrong and self.pass_alone(mode, program, chosen, wrong[1]):
                    return f"{mode} {program}.{wrong[1]}", wrong[0], time.time() - began
        return None

    def random_programs_find(self, mutant, programs, seed):
        command = [str(self.build / "tests/random_programs"), "--programs", str(programs), "--whole",
                   "--seconds", "36000", "--seed", str(seed)]
        return self.fails(DEFAULT, command, 36000, WICK_MUTANT=str(mutant.number))


def end_session(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass
