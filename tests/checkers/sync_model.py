"""A model of the device for synchronised entries, written from docs/device-model.md alone.

`Checker(module).check()` runs all launches of a module core by core and returns what is wrong: orders that are not enforced, hangs,
counts of flags and arrivals, drains, events, locks, fed barriers, stale caches, and launches that keep each other's cores.

A *fact* is one bit: a part of an op is complete on one core, in what it writes (W) or altogether (R); a wait, a select or a
clearing has been passed. Each core has the set of facts that it knows; arrivals, releases and events carry sets. The n-th await
meets the n-th arrivals and the n-th wait the n-th set, so one maximal run gives what holds in every run.
"""

import collections

from checkers.sync_text import SHAPES, early_wait, includes

HINTS = ("preload", "preload_all", "preload_data", "profile", "trace", "dcci")  # order nothing, wait for nothing
SHADOW = 2048  # offset of facts about a launch's own cores that came back to it by another launch

# A step is an instruction, or a part of a call: pre, (await, set, wait)*, start, meet, early_arrive, end.
Step = collections.namedtuple("Step", "word arg")


class Checker:
    """Runs all launches of a module and collects what is wrong, as (class, text)."""

    def __init__(self, module, orders=None):
        self.module, self.faults = module, []
        self.orders, self.direct = orders or module.orders(), orders is None
        self.by_name = {op.name: op for op in module.ops if not op.view}
        self.bits, self.own, self.steps, self.blocks = {}, collections.defaultdict(int), {}, {}
        for launch in module.launches:
            if launch.entry:
                for kind, program in launch.entry.programs.items():
                    self.steps[launch, kind] = self.expand(launch, kind, program)

    def fault(self, kind, text):
        self.faults.append((kind, text))

    def wrong(self):
        """The faults but stale caches, which are a warning."""
        return [fault for fault in self.faults if fault[0] != "stale"]

    def bit(self, launch, *key):
        key = (launch.number, *key)
        if key not in self.bits:
            self.bits[key] = 1 << len(self.bits)
            assert len(self.bits) < SHADOW
        self.own[launch] |= self.bits[key]
        return self.bits[key]

    # -- What can be seen in one program --

    def expand(self, launch, kind, program):
        steps, calls, selected, groups = [], [], None, collections.Counter()
        for at, instruction in enumerate(program):
            word, args = instruction.word, instruction.args
            if word in ("arrive", "await") and args[0] != kind or word in ("set", "wait") and \
                    (word == "set") != (args[0] == {"aic": "c2v", "aiv": "v2c"}[kind]):
                self.fault("calls", f"{kind} executes {word} {args[0]}")
                continue
            if word == "call":
                op = self.by_name.get(args[2])
                if op is None or op not in launch.ops:
                    self.fault("calls", f"no op {args[2]}")
                    continue
                kernel = op.kernel
                groups[op] += 1
                early = args[5:]
                waits = "early_wait" in early
                if waits != ("wait" in kernel.early) or ("early_set" in early) != ("set" in kernel.early):
                    self.fault("early", f"{op.name}: {early}")
                if int(args[4]) != kernel.block and not kernel.dynamic:
                    self.fault("calls", f"{op.name}: {args[4]} blocks")
                if kernel.dynamic and selected != kernel.name:
                    self.fault("select", f"{op.name} is not selected")
                if kernel.dynamic and selected:
                    at_select = max(i for i, step in enumerate(steps) if step.word == "select")
                    steps[at_select] = Step("select", op)
                selected, self.blocks[op] = None, int(args[4])
                if any(int(args[4]) > launch.entry.block * n or SHAPES[kernel.type][1] > SHAPES[launch.entry.type][1]
                       for n in [SHAPES[launch.entry.type][0] or 1 if SHAPES[kernel.type][0] else SHAPES[launch.entry.type][1]]):
                    self.fault("calls", f"{op.name} does not fit the launch")
                steps.append(Step("pre", (op, int(args[4]))))
                if waits:
                    steps += [Step(step, kind) for step in early_wait(kind, early[1], kernel)]
                steps += [Step(part, (op, int(args[4]))) for part in ("start", "meet")]
                if "early_set" in early:
                    steps.append(Step("early_arrive", (op, int(args[4]))))
                steps.append(Step("end", (op, int(args[4]))))
                calls.append((at, op, int(args[4])))
                if kernel.undrained:
                    rest = [i.word for i in program[at + 1:] if i.word not in HINTS + ("feed_sync",)]
                    if rest[:1] != ["pipe_barrier"]:
                        self.fault("undrained", f"{op.name} has no pipe_barrier directly after it")
            elif word == "select":
                if selected:
                    self.fault("select", f"{selected} is selected, not called")
                selected = args[0].lstrip("@").split(".")[0]
                steps.append(Step("select", None))
            elif word == "feed_sync":
                near = program[at + 1:] if args[0] == "begin" else program[at - 1::-1] if at else []
                call = next((i for i in near if i.word not in HINTS + ("feed_sync",)), None)
                op = self.by_name.get(call.args[2]) if call and call.word == "call" else None
                if op is None:
                    self.fault("feed", f"{args[0]} beside no call")
                else:
                    steps.append(Step("feed_" + args[0], (op, int(call.args[4]))))
            elif word == "reset" and args[0] == "lock":
                steps.append(Step("reset_lock", self.by_name.get(args[1])))
            elif word not in HINTS or word == "dcci":
                steps.append(Step(word, args[0] if args else None))
        if selected:
            self.fault("select", f"{selected} is selected, not called")
        for op in launch.ops:
            has_part = SHAPES[op.kernel.type][kind == "aiv"] > 0
            if groups[op] != has_part:
                self.fault("calls", f"{op.name} is called {groups[op]} times on {kind}")
        self.check_feeds(launch, kind, steps, calls)
        return steps

    def check_feeds(self, launch, kind, steps, calls):
        """A call of a kernel with full barriers that leaves cores out has each step of feed_sync once."""
        fed = collections.Counter((step.arg[0], step.word) for step in steps if step.word.startswith("feed_"))
        for _, op, blocks in calls:
            idle = any(core[0] == kind and not includes(op.kernel, blocks, core) for core in launch.entry.cores)
            counts = [fed[op, "feed_" + word] for word in ("begin", "end", "complement")]
            if idle and op.kernel.sync_all and counts == [0, 0, 0]:
                self.fault("idle", f"{op.name} leaves cores of {kind} out")
            elif idle and any(counts) and counts != [1, 1, 1]:
                self.fault("feed", f"{op.name}: {counts}")
            elif not idle and (counts[0] > 1 or counts[1] > 1 or counts[1] != counts[0]):
                self.fault("feed", f"{op.name}: {counts}")

    def check_sizes(self, kernel, block):
        """Blocks of a kernel or a launch are no more than the target has cores for."""
        (aics, aivs), module = SHAPES[kernel], self.module
        if block * aics > module.aic or block * aivs > module.aiv:
            self.fault("calls", f"{block} blocks of {kernel}")

    def check_entry(self, launch):
        """Counts of events and locks, and what kernels with full barriers find outstanding."""
        self.check_sizes(launch.entry.type, launch.entry.block)
        steps = [(kind, i, step) for (l, kind), program in self.steps.items() if l is launch
                 for i, step in enumerate(program)]
        count = collections.Counter((step.word, step.arg) for _, _, step in steps
                                    if step.word in ("notify", "wait_event", "reset", "reset_lock"))
        inside = lambda event, side: any(event in getattr(op, side) for op in launch.ops)
        expected = collections.Counter()
        for op in launch.ops:
            if op.kernel.dynamic:
                expected["reset_lock", op] = 1
            if launch.entry:
                for event in op.send:
                    if not inside(event, "recv") or self.outside(launch, event, "recv"):
                        expected["notify", event] = 1
                for event in op.recv:
                    if not inside(event, "send"):
                        expected["wait_event", event] = expected["reset", event] = 1
        if count != expected:
            self.fault("event", f"{launch.name}: {count - expected} too many, {expected - count} missing")
        for op in launch.ops:
            if op.kernel.sync_all:
                before = {kind: collections.Counter() for kind in ("aic", "aiv")}
                for kind, i, step in steps:
                    start = next((j for k, j, s in steps if k == kind and s.word == "start" and s.arg[0] is op), -1)
                    if i < start:
                        before[kind]["arrive" if step.word == "early_arrive" else step.word] += 1
                parts = [kind for kind, n in zip(("aic", "aiv"), SHAPES[op.kernel.type]) if n]
                if any(before[kind]["arrive"] != before[kind]["await"] for kind in parts):
                    self.fault("full", f"{op.name}: an arrival is outstanding")
                if len(parts) == 2 and (before["aic"]["set"] != before["aiv"]["wait"]
                                        or before["aiv"]["set"] != before["aic"]["wait"]):
                    self.fault("full", f"{op.name}: a release is outstanding")

    def outside(self, launch, event, side):
        return any(event in getattr(other, side) or any(event in getattr(op, side) for op in other.ops)
                   for other in self.module.launches if other is not launch)

    # -- The run --

    def check(self):
        for kernel in self.module.kernels.values():
            self.check_sizes(kernel.type, kernel.block)
        for launch in self.module.launches:
            if launch.entry:
                self.check_entry(launch)
            elif len(launch.ops) > 1 or launch.name in self.module.entries:
                self.fault("calls", f"{launch.name} has no entry")
        run = Run(self)
        run.go()
        for launch in self.module.launches:
            state = run.states[launch]
            if not state.ended:
                stuck = [f"{core.name}: {core.steps[core.at]}" for core in state.cores if core.at < len(core.steps)]
                inner = any(core.steps[core.at].word != "wait_event" for core in state.cores if core.at < len(core.steps))
                self.fault("deadlock" if stuck and inner else "launch", f"{launch.name} {'; '.join(stuck[:3])}")
        if not self.wrong():
            self.check_orders(run)
        if not self.wrong():
            result = Placement(self).hangs()
            if result:
                self.fault("launch", result)
        return self.faults

    def complete(self, op, level):
        """The facts that say that an op is complete on all its cores."""
        bits, launch = 0, op.launch
        if not launch.entry:
            return self.bit(launch, "W", op.name) | (self.bit(launch, "R", op.name) if level == "R" else 0)
        blocks = self.blocks.get(op, op.kernel.block)
        for core in launch.entry.cores:
            if includes(op.kernel, blocks, core):
                bits |= self.bit(launch, "W", op.name, core)
                if level == "R":
                    bits |= self.bit(launch, "R", op.name, core)
        return bits

    def check_orders(self, run):
        for (first, second), why in self.orders.items():
            for kind in why:
                need = self.complete(first, "R" if kind == "memory" else "W")
                for where, pre, start in run.starts[second]:
                    known = start if kind == "order" or "reads_late" in second.kernel.early else pre
                    if not self.direct:
                        known |= known >> SHADOW
                    if need & ~known:
                        self.fault("order", f"{first.name} before {second.name} on {where} by {kind}")
        for first, second in self.module.overlaps():
            if (first, second) in self.orders and "memory" in self.orders[first, second]:
                continue
            if not any(self.known_everywhere(run, a, b) for a, b in ((first, second), (second, first))):
                self.fault("order", f"{first.name} and {second.name} share memory")

    def known_everywhere(self, run, first, second):
        need = self.complete(first, "R")
        late = "reads_late" in second.kernel.early
        return all(not need & ~((start if late else pre) | (start if late else pre) >> SHADOW)
                   for _, pre, start in run.starts[second])


class Core:
    def __init__(self, identity, steps):
        self.kind, self.number, self.block = self.identity = identity
        self.name, self.steps, self.at = f"{self.kind} {self.number}", steps, 0
        self.known = self.called = self.cleaned = self.pre = 0
        self.arrivals, self.awaits, self.sets, self.waits = [], 0, [], 0
        self.settled = 0  # facts about the core's own calls that have drained there
        self.open_call = None  # arrival after which the call before is drained; None: nothing to drain


class State:
    """A launch in a run."""

    def __init__(self):
        self.begun = self.ended = False
        self.cores, self.known, self.start_known = [], 0, 0
        self.started, self.fed = set(), set()


class Run:
    """A maximal run. `placed` gives the number of blocks of each launch that have cores; without it all have."""

    def __init__(self, checker, placed=None):
        self.checker, self.placed, self.checks = checker, placed, placed is None
        self.launches = checker.module.launches
        self.states = {launch: State() for launch in self.launches}
        self.events, self.starts = {}, collections.defaultdict(list)

    def go(self):
        moved = True
        while moved:
            moved = False
            for launch in self.launches:
                state = self.states[launch]
                if not state.begun and self.ready(launch):
                    self.begin(launch, state)
                    moved = True
                if state.begun and not state.ended:
                    for core in state.cores:
                        while core.at < len(core.steps) and self.step(launch, state, core):
                            core.at += 1
                            moved = True
                    if self.all_placed(launch) and all(core.at == len(core.steps) for core in state.cores):
                        self.end(launch, state)
                        moved = True

    def blocks(self, launch):
        return launch.entry.block if launch.entry else launch.ops[0].kernel.block or 1

    def all_placed(self, launch):
        return self.placed is None or self.placed[launch] >= self.blocks(launch)

    def before(self, launch):
        """The launch before this one on its stream."""
        return next((other for other in reversed(self.launches[:launch.number]) if other.stream == launch.stream), None)

    def ready(self, launch):
        other = self.before(launch)
        return (other is None or self.states[other].ended) and all(event in self.events for event in launch.recv)

    def begin(self, launch, state):
        other = self.before(launch)
        state.begun = True
        state.known = self.states[other].known if other else 0
        for event in launch.recv:
            state.known |= self.events[event]
        state.start_known = state.known
        if launch.entry:
            limit = self.blocks(launch) if self.placed is None else self.placed[launch]
            for core in launch.entry.cores:
                if core[2] < limit:
                    state.cores.append(Core(core, self.checker.steps.get((launch, core[0]), [])))
                    state.cores[-1].known = state.known
        elif self.checks:
            self.starts[launch.ops[0]].append((launch.name, state.known, state.known))

    def end(self, launch, state):
        state.ended = True
        if launch.entry:
            for core in state.cores:
                state.known |= core.known | core.called
                if self.checks and len(core.arrivals) != core.awaits:
                    self.checker.fault("left", f"{core.name} has {len(core.arrivals)} arrivals, {core.awaits} awaits")
                for other in self.partners(state, core):
                    if self.checks and len(core.sets) != other.waits:
                        self.checker.fault("left", f"{core.name} sets {len(core.sets)} times")
        else:
            state.known |= self.checker.complete(launch.ops[0], "R")
        for event in launch.send:
            self.events[event] = state.known

    def partners(self, state, core):
        return [other for other in state.cores if other.block == core.block and other.kind != core.kind]

    def everyone(self, launch, state, kind):
        """The launched cores of a type, or None while some have no core of the device."""
        return [core for core in state.cores if core.kind == kind] if self.all_placed(launch) else None

    def step(self, launch, state, core):
        """Executes a step; false where it blocks."""
        word, arg = core.steps[core.at]
        return getattr(self, "do_" + word)(launch, state, core, arg)

    def do_arrive(self, launch, state, core, _):
        core.arrivals.append(core.known | core.called)
        self.count_arrival(core)
        return True

    def count_arrival(self, core):
        if self.checks and len(core.arrivals) - core.awaits > 15:
            self.checker.fault("overflow", f"{core.name} arrives {len(core.arrivals)} times")

    def do_await(self, launch, state, core, _):
        everyone = self.everyone(launch, state, core.kind)
        if everyone is None or any(len(other.arrivals) <= core.awaits for other in everyone):
            return False
        for other in everyone:
            core.known |= other.arrivals[core.awaits]
        core.awaits += 1
        if core.open_call is not None and core.awaits > core.open_call:
            core.open_call, core.settled = None, core.called
        return True

    def do_set(self, launch, state, core, _):
        core.sets.append(core.known)
        if core.kind == "aiv" and not SHAPES[launch.entry.type][0]:
            self.checker.fault("calls", f"{core.name} has no AIC")
        self.check_room(launch, state, core, len(core.sets))
        return True

    def check_room(self, launch, state, core, count):
        for other in self.partners(state, core) if self.checks and count > 15 else []:
            if self.checker.bit(launch, "waited", other.identity, count - 15) & ~core.known:
                self.checker.fault("overflow", f"{core.name} sets {count} times")

    def do_wait(self, launch, state, core, _):
        partners = self.partners(state, core)
        if core.kind == "aiv" and not SHAPES[launch.entry.type][0]:
            self.checker.fault("calls", f"{core.name} has no AIC")
        if any(len(other.sets) <= core.waits for other in partners):
            return False
        for other in partners:
            core.known |= other.sets[core.waits]
        core.waits += 1
        core.known |= self.checker.bit(launch, "waited", core.identity, core.waits)
        return True

    def do_pipe_barrier(self, launch, state, core, _):
        core.known |= core.called
        core.open_call = None
        return True

    def do_dcci(self, launch, state, core, _):
        core.cleaned = core.known
        return True

    def do_clear_workspace(self, launch, state, core, _):
        core.called |= self.checker.bit(launch, "cleared", core.identity)
        return True

    def do_notify(self, launch, state, core, event):
        if core.number:
            return True
        if self.checks:
            for op in launch.ops:
                if event in op.send and self.checker.complete(op, "R") & ~core.known:
                    self.checker.fault("event", f"{event} is notified before {op.name} is complete")
        self.events[event] = core.known
        return True

    def do_wait_event(self, launch, state, core, event):
        if core.number:
            return True
        if event not in self.events:
            return False
        message, own = self.events[event], self.checker.own[launch]
        core.known |= message & ~(own | own << SHADOW) | (message & own) << SHADOW
        core.known |= self.checker.bit(launch, "come", event)
        return True

    def do_reset(self, launch, state, core, event):
        if self.checks and not core.number and self.checker.bit(launch, "come", event) & ~core.known:
            self.checker.fault("event", f"{event} is reset before it was waited for")
        return True

    def do_select(self, launch, state, core, op):
        if op:
            core.known |= self.checker.bit(launch, "selected", op.name, core.identity)
        return True

    def do_reset_lock(self, launch, state, core, op):
        if self.checks and not core.number and op:
            for other in state.cores:
                if SHAPES[op.kernel.type][other.kind == "aiv"]:
                    if self.checker.bit(launch, "selected", op.name, other.identity) & ~core.known:
                        self.checker.fault("event", f"the lock of {op.name} is reset before {other.name} has passed")
        return True

    # -- Calls --

    def do_pre(self, launch, state, core, call):
        op, blocks = call
        core.pre = core.known | core.settled
        if self.checks and includes(op.kernel, blocks, core.identity):
            for operand in op.kernel.scalar_reads:
                self.check_stale(launch, state, core, op, op.accesses[operand][0])
        return True

    def check_stale(self, launch, state, core, op, place):
        for other in self.checker.module.ops:
            if other is op:
                break
            if other.view or not any(w and a[0] == place[0] and a[1] <= place[2] and place[1] <= a[2]
                                     for a, w, _ in other.accesses):
                continue
            need = self.checker.complete(other, "W")
            if other.launch is launch or need & ~state.start_known:
                if need & ~(core.cleaned | core.cleaned >> SHADOW):
                    self.checker.fault("stale", f"{op.name} may read what was there before {other.name} on {core.name}")

    def do_start(self, launch, state, core, call):
        op, blocks = call
        state.started.add((op, core.identity))
        if not includes(op.kernel, blocks, core.identity):
            return True
        if self.checks:
            self.starts[op].append((core.name, core.pre, core.known | core.settled))
            if core.open_call is not None:
                self.checker.fault("undrained", f"{op.name} on {core.name}")
            late = "reads_late" in op.kernel.early
            for event in op.recv:
                bit = self.checker.bit(launch, "come", event)
                inner = any(event in other.send for other in launch.ops)
                if not inner and bit & ~(core.known if late else core.pre):
                    self.checker.fault("event", f"{op.name} may start on {core.name} before {event} has come")
            if op.kernel.sync_all and core.kind == "aiv" and SHAPES[op.kernel.type][0]:
                self.check_room(launch, state, core, len(core.sets) + 1)
        core.open_call = len(core.arrivals)
        return True

    def do_meet(self, launch, state, core, call):
        """The parts of a mixed kernel run at the same time; one with full barriers needs all its cores, or idle ones that feed."""
        op, blocks = call
        if not includes(op.kernel, blocks, core.identity):
            return True
        if op.kernel.sync_all:
            for kind, parts in zip(("aic", "aiv"), SHAPES[op.kernel.type]):
                everyone = self.everyone(launch, state, kind) if parts else []
                if everyone is None:
                    return False
                for other in everyone:
                    idle = not includes(op.kernel, blocks, other.identity)
                    if (op, other.identity) not in (state.fed if idle else state.started):
                        return False
            return True
        return SHAPES[op.kernel.type][0] == 0 or SHAPES[op.kernel.type][1] == 0 or all(
            (op, other.identity) in state.started for other in self.partners(state, core))

    def do_early_arrive(self, launch, state, core, call):
        op, blocks = call
        message = core.known | core.called
        if includes(op.kernel, blocks, core.identity):
            message |= self.checker.bit(launch, "W", op.name, core.identity)
            if "reads_done" in op.kernel.early:
                message |= self.checker.bit(launch, "R", op.name, core.identity)
        core.arrivals.append(message)
        self.count_arrival(core)
        return True

    def do_end(self, launch, state, core, call):
        op, blocks = call
        if includes(op.kernel, blocks, core.identity):
            core.called |= self.checker.bit(launch, "W", op.name, core.identity)
            core.called |= self.checker.bit(launch, "R", op.name, core.identity)
        return True

    def check_clear(self, launch, state, core):
        for other in state.cores:
            if self.checks and other.kind == core.kind:
                if self.checker.bit(launch, "cleared", other.identity) & ~core.known:
                    self.checker.fault("feed", f"{core.name} feeds before {other.name} is known to have cleared")

    def do_feed_begin(self, launch, state, core, call):
        if includes(call[0].kernel, call[1], core.identity):
            self.check_clear(launch, state, core)
        return True

    def do_feed_end(self, launch, state, core, call):
        if includes(call[0].kernel, call[1], core.identity):
            state.fed.add((call[0], "end", core.identity))
        return True

    def do_feed_complement(self, launch, state, core, call):
        op, blocks = call
        if includes(op.kernel, blocks, core.identity):
            return True
        self.check_clear(launch, state, core)
        state.fed.add((op, core.identity))
        everyone = self.everyone(launch, state, core.kind)
        return everyone is not None and all((op, "end", other.identity) in state.fed for other in everyone
                                            if includes(op.kernel, blocks, other.identity))


class Placement:
    """Searches all ways in which launches come to their cores (docs/device-model.md, Launches side by side)."""

    LIMIT = 3000  # states; beyond them the answer is that nothing was found

    def __init__(self, checker):
        self.checker, self.launches = checker, checker.module.launches
        aic, aiv = checker.module.aic, checker.module.aiv
        # With two AIVs for each AIC they are fixed groups; else any AIC and any AIVs make an AI core, as one group does.
        self.groups = tuple((1, 2) for _ in range(aic)) if aiv == 2 * aic else ((aic, aiv),)
        self.shape, self.keeps = [], []
        for launch in self.launches:
            op = launch.ops[0]
            self.shape.append((0, 0) if not launch.entry and op.no_cores else
                              SHAPES[launch.entry.type if launch.entry else op.kernel.type])
            steps = [step for (l, _), program in checker.steps.items() if l is launch for step in program]
            self.keeps.append(any(step.word in ("await", "wait_event") or
                                  step.word == "start" and step.arg[0].kernel.sync_all for step in steps)
                              or not launch.entry and op.kernel.sync_all and not op.no_cores)

    def hangs(self):
        """A state in which a launch waits for ever, in words, or None."""
        first = (tuple(0 for _ in self.launches), tuple((free, ()) for free in self.groups))
        seen, open_states, self.cache = {first}, [first], {}
        while open_states and len(seen) < self.LIMIT:
            placed, groups = open_states.pop()
            if placed not in self.cache:
                run = Run(self.checker, dict(zip(self.launches, placed)))
                run.go()
                self.cache[placed] = run.states, [run.blocks(launch) for launch in self.launches]
            states, blocks = self.cache[placed]
            ended = {launch.number for launch in self.launches if states[launch].ended}
            groups = tuple(sorted(self.release(group, ended) for group in groups))
            following = set()
            for launch in self.launches:
                i = launch.number
                if states[launch].begun and placed[i] < blocks[i]:
                    for at, group in enumerate(groups):
                        (aics, aivs), (free_aics, free_aivs) = self.shape[i], group[0]
                        if aics > free_aics or aivs > free_aivs:
                            continue
                        count = placed[i] + 1 if self.keeps[i] else blocks[i]
                        taken = group
                        if self.keeps[i]:
                            taken = (free_aics - aics, free_aivs - aivs), tuple(sorted(group[1] + (i,)))
                        following.add((placed[:i] + (count,) + placed[i + 1:],
                                       tuple(sorted(groups[:at] + (taken,) + groups[at + 1:]))))
            if not following and len(ended) < len(self.launches):
                return ", ".join(f"{launch.name} has {placed[launch.number]} of {blocks[launch.number]} blocks"
                                 for launch in self.launches if launch.number not in ended)
            open_states += following - seen
            seen |= following
        return None

    def release(self, group, ended):
        (aics, aivs), holders = group
        for i in holders:
            if i in ended:
                aics, aivs = aics + self.shape[i][0], aivs + self.shape[i][1]
        return (aics, aivs), tuple(i for i in holders if i not in ended)
