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
GIGABYTE = 1 << 30
FAILED, BEGUN = re.compile(rb"\[  FAILED  \] (\w+)"), re.compile(rb"\[ RUN      \] (\w+)")
QUICK = (0.3, 3.0)  # seconds: tests up to the first run first, those above the second last
Test = collections.namedtuple("Test", "program number name seconds")


class Runner:
    def __init__(self, build, source, work, memory, slowest, longest, budget):
        self.build, self.source, self.work = build, source, work
        self.memory, self.slowest, self.longest, self.budget = memory, slowest, longest, budget
        self.passes_by = {}  # mutant's number -> tests
        self.alone = {}  # (program, numbers of tests): do they pass without a mutant and without the program's others?

    def environment(self, **more):
        own = self.work / "tmp" / str(threading.get_ident())
        own.mkdir(parents=True, exist_ok=True)
        return dict(os.environ, POCL_DEVICES="basic pthread", POCL_MAX_PTHREAD_COUNT="1",
                    POCL_CACHE_DIR=str(self.work / "pocl"), WICK_CACHE_DIR="off", MALLOC_PERTURB_="85",
                    WICK_BUILD=str(self.build), WICK_SOURCE=str(self.source), WICK_WORK=str(own),
                    WICK_CHECK_DIR=str(own), **more)

    def limits(self):
        resource.setrlimit(resource.RLIMIT_AS, (self.memory * GIGABYTE, self.memory * GIGABYTE))
        resource.setrlimit(resource.RLIMIT_FSIZE, (8 * GIGABYTE, 8 * GIGABYTE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def fails(self, command, seconds, **more):
        """What went wrong, (how, the test's name if it is known), how being "a test", "the end" (a crash, a leak) or
        "the time"; None if nothing did. Nobody waits for what comes after it."""
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, cwd=self.source, env=self.environment(**more),
                                   preexec_fn=self.limits, start_new_session=True)
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

    def learn(self, jobs):
        """Runs each program once without a mutant. What has been learnt of a program holds until it changes."""
        programs = sorted(p.name for p in (self.build / "tests").iterdir() if p.is_file() and os.access(p, os.X_OK))
        programs.remove("random_programs")
        (self.work / "learnt").mkdir(exist_ok=True)
        with ThreadPoolExecutor(jobs) as pool:
            for program, learnt in zip(programs, pool.map(self.learn_program, programs)):
                if learnt["wrong"]:
                    print(f"{program}: left out, it fails without a mutant ({learnt['wrong']})", file=sys.stderr)
                    continue
                for number, name, seconds, seen in learnt["tests"]:
                    for mutant in set(learnt["outside"] + seen):
                        self.passes_by.setdefault(mutant, []).append(Test(program, number, name, seconds))

    def learn_program(self, program):
        path = self.build / "tests" / program
        notes = self.work / "learnt"
        note = notes / f"{program}-{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}-{self.slowest}.json"
        if not note.exists():
            for old in notes.glob(f"{program}-*"):
                old.unlink()
            note.write_text(json.dumps(self.watch(program)))
        return json.loads(note.read_text())

    def watch(self, program):
        seen, names = self.work / f"seen-{program}", self.work / f"seen-{program}.tests"
        names.write_text("")
        with open(seen, "w+b") as file:
            def row(k):
                file.seek(ROW * k)
                flags = file.read(ROW)
                return [n for n in range(ROW) if flags[n]]

            file.truncate(ROW * (MOST_TESTS + 1))
            wrong = self.fails([str(self.build / "tests" / program)], self.slowest, WICK_MUTANT_SEEN=str(seen))
            found = []
            for line in names.read_text().splitlines() if not wrong else []:
                number, seconds, name = line.split(" ", 2)
                found.append([int(number), name, float(seconds), row(int(number) + 1)])
            outside = row(0)
        seen.unlink(), names.unlink()
        return {"wrong": wrong and " ".join(wrong), "tests": found, "outside": outside}

    # ---- one mutant --------------------------------------------------------------------------------------------------

    def run_tests(self, program, tests, **more):
        seconds = 10 + 10 * sum(t.seconds for t in tests)
        return self.fails([str(self.build / "tests" / program)], seconds,
                          WICK_MUTANT_TESTS=" ".join(str(t.number) for t in tests), **more)

    def pass_alone(self, program, tests, name):
        """A test may need what those before it have left. So what fails under a mutant is run without it."""
        tests = [t for t in tests if t.name == name] or tests
        some = (program, tuple(t.number for t in tests))
        if some not in self.alone:
            self.alone[some] = self.run_tests(program, tests) is None
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
                    some[test.program].append(test)
            for program, chosen in sorted(some.items(), key=lambda item: sum(t.seconds for t in item[1])):
                spent += sum(t.seconds for t in chosen)
                if spent > self.budget:
                    return None
                wrong = self.run_tests(program, chosen, WICK_MUTANT=str(mutant.number))
                if wrong and self.pass_alone(program, chosen, wrong[1]):
                    return f"{program}.{wrong[1]}", wrong[0], time.time() - began
        return None

    def random_programs_find(self, mutant, programs, seed):
        command = [str(self.build / "tests/random_programs"), "--programs", str(programs), "--whole",
                   "--seconds", "36000", "--seed", str(seed)]
        return self.fails(command, 36000, WICK_MUTANT=str(mutant.number))


def end_session(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass
