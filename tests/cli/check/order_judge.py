"""Random graphs before a second judge, tests/judge.py, which knows the language from its page only:
what skirc accepts, the order that is left in streams and events, and that which entries enforce,
are what the pages say; entries with a fault put in are found wrong by both or by neither."""

import copy
import itertools
import os
import random
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import judge
import judge_entries
import judge_graphs
import tap

SEED = int(os.environ.get("SKIR_TEST_SEED", "1"))
COUNT = int(os.environ.get("SKIR_TEST_COUNT", "400"))
BATCH = 200
PARTITION, EVENTS = "assign-streams,partition-scopes,split-nonfusable", "insert-events"


def judged(text):
    try:
        graph, = judge.read(text)
        return graph, judge.check(graph), None
    except judge.Refused as refusal:
        return None, None, str(refusal)


def ids(errors, name):
    """The ids of the errors about a file."""
    return set(re.findall(rf"^\S*{name}:.*\berror: .*\[([a-z-]+)\]$", errors, re.M))


def can_queue(relation, sides):
    """Whether launches, lists of ops with a stream each, can follow each other on their streams."""
    before = relation.close().before
    if relation.circle():
        return False
    for (one, its), (other, theirs) in itertools.combinations(sides, 2):
        ways = (one, other), (other, one)
        if its != theirs or any(all(before[b] >> a & 1 for a in first for b in then)
                                for first, then in ways):
            continue
        for first, then in ways:
            narrower = judge.Relation(0, before)
            for a, b in itertools.product(first, then):
                narrower.add(a, b)
            if not any(before[a] >> b & 1 for a in first for b in then) \
                    and can_queue(narrower, sides):
                return True
        return False
    return True


def told(graph, order):
    """Pairs of ops of a super kernel of which what runs beside that tells by events."""
    pairs = set()
    for launch in graph.launches:
        inside = [judge.name_of(op) for op in graph.ops if op.kernel is launch]
        for other in graph.ops:
            name = judge.name_of(other)
            if other.kernel is launch or other.passive():
                continue
            before = [a for a in inside if (a, name) in order.pairs]
            pairs |= {(a, b) for a in before for b in inside if (name, b) in order.pairs
                      and (a, b) not in order.uses}
    return pairs


def unfit(graph, order):
    """Whether super kernels of the text cannot be launches: they have events of their own, but
    nothing that executes; or they wait for themselves, whatever runs beside them."""
    sides = []
    for launch in graph.launches:
        inside = [i for i, op in enumerate(graph.ops) if op.kernel is launch and not op.passive()]
        if launch.send + launch.recv and not inside:
            return True
        sides += [(inside, launch.stream)] if inside else []
    sides += [([i], op.stream) for i, op in enumerate(graph.ops)
              if not op.kernel and not op.passive()]
    return not can_queue(judge.Relation(0, order.relation.before), sides)


def lacks_without(required, graph, owner, clause, name):
    """What the text alone, launches as they may, lacks of orders without a word of a clause."""
    words = getattr(owner, clause)
    setattr(owner, clause, [word for word in words if word != name])
    try:
        return lacking(required, graph)
    finally:
        setattr(owner, clause, words)


def lacking(required, graph):
    """What the text alone lacks of orders, those of ops that access the same bytes, too."""
    order = judge.Order(graph)
    return required - order.pairs | judge.apart(graph, order, order.relation.before)


def compare_events(required, graph):
    """What is wrong with the events that insert-events made, or nothing."""
    launches = judge.Launches(graph)
    order = launches.ordered()
    wrong = [f"{a} is not before {b}" for a, b in sorted(required - order)]
    needless = order - launches.allowed(required)
    wrong += [f"{a} is before {b}, without need" for a, b in sorted(needless)]
    for owner in graph.ops:
        if owner.passive() and owner.send + owner.recv + owner.after:
            wrong.append(f"passive {judge.name_of(owner)} has clauses")
    for event, sender, receiver in launches.edges():
        if (not required - launches.ordered(without=event)
                and not (all(not op.results for op in launches.ops(sender)[-1:])
                         and lacks_without(required, graph, receiver, "recv", event))):
            wrong.append(f"event {event} could be left out")
    wrong += [f"the text lacks {a} before {b}"
              for a, b in sorted(lacking(required, graph))]
    for op in graph.ops:
        wrong += [f"{judge.name_of(op)} needs no after %{value}" for value in op.after
                  if not lacks_without(required, graph, op, "after", value)]
    return wrong


class Failures:
    def __init__(self):
        self.texts = []

    def add(self, seed, text, what, made=""):
        self.texts.append(f"seed {seed}: {what}\n{text}{made}")

    def report(self, claim):
        few = sorted(self.texts, key=len)[:int(os.environ.get("SHOW", "2"))]
        tap.check(claim, not self.texts, f"{len(self.texts)} of them\n" + "\n".join(few))


accepts, partitions, events, entries, faults, caches, calls = [Failures() for _ in range(7)]
refused, compared, cuts, proved, launched, wrongs, rights, cleaned, undecided = [0] * 9
orders, impossible = 0, 0


def run(folder, seeds):
    global refused, compared, cuts
    texts = {f"s{seed}.skir": judge_graphs.Text(seed, seed % 2).text() for seed in seeds}
    paths = [os.path.join(folder, name) for name in texts]
    for path, text in zip(paths, texts.values()):
        with open(path, "w") as file:
            file.write(text)
    errors = tap.skirc("check", "--no-lower", "--max-errors=0", *paths).stderr
    good = {}
    found = {}
    for line in re.findall(r"^\S*\b(s\d+\.skir):.*\berror: .*\[([a-z-]+)\]$", errors, re.M):
        found.setdefault(line[0], set()).add(line[1])
    for seed, (name, text) in zip(seeds, texts.items()):
        graph, order, why = judged(text)
        said = found.get(name, set())
        if bool(why) != bool(said) or why and not said & {why, "op-signature", "overlap"}:
            said = " ".join(sorted(said)) or "right"
            accepts.add(seed, text, f"the judge says {why or 'right'}, skirc {said}")
        elif why:
            refused += 1
        else:
            good[name] = seed, graph, order
    stages = []
    again = f"{PARTITION},{EVENTS}"
    for stage, passes in (("parts", PARTITION), ("events", EVENTS), ("again", again)):
        into = os.path.join(folder, stage)
        paths = [os.path.join(stages[-1] if stages else folder, name) for name in good]
        inputs = filter(os.path.exists, paths)
        os.mkdir(into)
        result = tap.skirc("opt", f"--passes={passes}", "--verify-each", "--max-errors=0",
                           "-o", into, *inputs)
        errors = result.stderr if not stages else errors + result.stderr
        stages.append(into)
    for name, (seed, graph, order) in good.items():
        compare(seed, texts[name], name, graph, order, stages, errors)


def compare(seed, text, name, graph, order, stages, errors):
    global compared, cuts
    made = []
    for stage in stages:
        path = os.path.join(stage, name)
        if os.path.exists(path):
            with open(path) as file:
                made.append(file.read())
    if not made:
        cuts += unfit(graph, order)
        if not unfit(graph, order):
            partitions.add(seed, text, f"partition-scopes refuses: {ids(errors, name)}")
        return
    if unfit(graph, order):
        partitions.add(seed, text, "super kernels that wait for each other pass", made[0])
        return
    parts, parts_order, why = judged(made[0])
    if why or parts_order.pairs != order.pairs:
        partitions.add(seed, text, why or f"lost {order.pairs - parts_order.pairs}, "
                       f"new {parts_order.pairs - order.pairs}", made[0])
        return
    if len(made) < 3:
        events.add(seed, text, f"insert-events refuses: {ids(errors, name)}", "".join(made))
        return
    compared += 1
    with_events, _, why = judged(made[1])
    wrong = [why] if why else compare_events(order.pairs, with_events)
    if made[2] != made[1]:
        wrong.append("the same passes again change it")
    if wrong:
        events.add(seed, text, "; ".join(wrong), made[1])


def lower(folder, seeds):
    """Entries that the whole pipeline makes enforce the order of the text."""
    global proved, launched
    good = {}
    for seed in seeds:
        text = judge_graphs.Text(seed, False, True).text()
        graph, order, why = judged(text)
        if not why and not unfit(graph, order):
            good[f"l{seed}.skir"] = seed, text, order
            with open(os.path.join(folder, f"l{seed}.skir"), "w") as file:
                file.write(text)
    into = os.path.join(folder, "lowered")
    os.mkdir(into)
    errors = tap.skirc("opt", "--passes=default", "--max-errors=0", "-o", into,
                       *[os.path.join(folder, name) for name in good]).stderr
    mutants, others = [], []
    for name, (seed, text, order) in good.items():
        path = os.path.join(into, name)
        if not os.path.exists(path):
            entries.add(seed, text, f"default refuses: {ids(errors, name)}")
            continue
        with open(path) as file:
            made = file.read()
        launched += 1
        try:
            proved += prove(made, order)[0]
            mutants += [(seed, made, order), *mutate(seed, made, order)]
            other = shuffled(seed, made, order)
            others += [(seed, *other)] if other else []
        except judge_entries.Wrong as wrong:
            entries.add(seed, text, str(wrong), made)
    compare_mutants(folder, mutants)
    compare_calls(folder, others)


def shuffled(seed, text, order):
    """The text with nothing but calls in its entries, some in other places; nothing where entries
    deal with events."""
    if re.search("wait_event|notify", text):
        return None
    chance, made, calls = random.Random(seed), [], []
    text = re.sub(r", (split|workspace) = \d+", "", text)
    for line in text.splitlines(True):
        if line.startswith("    call "):
            calls.append(re.sub(" early_.*", "", line))
        elif line == "  }\n" and calls:
            for i in range(len(calls) - 1):
                if chance.random() < 0.4:
                    calls[i:i + 2] = calls[i + 1], calls[i]
            made += calls + [line]
            calls = []
        elif not re.match(r"    [a-z]|  args \[sync", line) or line.startswith(("    stream", "    scope")):
            made.append(line)
    return "".join(made), order


def can_follow(text, order):
    """Whether calls of entries can be next, one after another, in the order of their programs."""
    graph, = judge.read(text)
    for entry in judge_entries.read_entries(text).values():
        names = {"%" + value: judge.name_of(op) for op in graph.ops for value in op.results}
        programs = [[names[line[3]] for line in program] for program in entry.programs.values()]
        while any(programs):
            left = {name for program in programs for name in program}
            heads = {program[0] for program in programs if program}
            free = [name for name in heads
                    if all(name not in program[1:] for program in programs)
                    and not any((other, name) in order.pairs for other in left)]
            if not free:
                return False
            for program in programs:
                if program and program[0] == free[0]:
                    del program[0]
    return True


def compare_calls(folder, texts):
    """Entries of calls in other orders: synchronised, or refused where none can be next."""
    global orders, impossible
    into = os.path.join(folder, "ordered")
    os.mkdir(into)
    paths = [os.path.join(folder, f"c{i}.skir") for i in range(len(texts))]
    for path, (_, text, _) in zip(paths, texts):
        with open(path, "w") as file:
            file.write(text)
    errors = tap.skirc("opt", "--passes=default", "--max-errors=0", "-o", into,
                       *paths).stderr if paths else ""
    for i, (seed, text, order) in enumerate(texts):
        path, can = os.path.join(into, f"c{i}.skir"), can_follow(text, order)
        if not os.path.exists(path):
            impossible += not can
            if can or ids(errors, f"c{i}.skir") != {"entry-calls"}:
                calls.add(seed, text, f"refused: {ids(errors, f'c{i}.skir')}")
            continue
        with open(path) as file:
            made = file.read()
        try:
            orders += prove(made, order)[0]
            if not can:
                calls.add(seed, text, "nothing can be next, but it is synchronised", made)
        except judge_entries.Wrong as wrong:
            calls.add(seed, text, str(wrong), made)


def mutate(seed, text, order):
    """The text with an instruction dropped, doubled or put behind the next, or with other calls;
    some such texts."""
    lines, chance = text.splitlines(True), random.Random(seed)
    words = ("set", "wait", "arrive", "await", "pipe_barrier", "wait_event", "notify", "reset",
             "feed_sync", "clear_workspace", "dcci", "count_arrive", "check_await", "count_set", "check_wait")
    places = [i for i, line in enumerate(lines) if line.split() and line.split()[0] in words]
    for i in chance.sample(places, min(3, len(places))):
        pair = lines[i:i + 2]
        if pair[1].strip() == "}":
            made = chance.choice([[], pair[:1] * 2]) + pair[1:]
        else:
            made = chance.choice([pair[1:], pair[:1] + pair, pair[::-1], pair[::-1]])
        yield seed, "".join(lines[:i] + made + lines[i + 2:]), order
    early = [i for i, line in enumerate(lines) if line.startswith("    call ") and "early_" in line]
    for i in chance.sample(early, min(1, len(early))):
        shorter = re.sub(chance.choice([" early_set", " early_wait \\w+"]), "", lines[i])
        yield seed, "".join(lines[:i] + [shorter] + lines[i + 1:]), order
    yield from mutate_calls(seed, lines, chance, order)


def mutate_calls(seed, lines, chance, order):
    """The text with two calls of a program in each other's place; one with a call in another's."""
    calls = [i for i, line in enumerate(lines) if line.startswith("    call ")]
    pairs = [(i, j) for i, j in zip(calls, calls[1:]) if "  }\n" not in lines[i:j]]
    for i, j in chance.sample(pairs, min(3, len(pairs))):
        exchanged = lines[:]
        exchanged[i], exchanged[j] = lines[j], lines[i]
        yield seed, "".join(exchanged), order
    for i, j in pairs[:1]:
        yield seed, "".join(lines[:j] + [lines[i]] + lines[j + 1:]), order


def compare_mutants(folder, mutants):
    global wrongs, rights, undecided
    paths = [os.path.join(folder, f"m{i}.skir") for i in range(len(mutants))]
    for path, (_, text, _) in zip(paths, mutants):
        with open(path, "w") as file:
            file.write(text)
    into = os.path.join(folder, "proven") + "/"
    errors = tap.skirc("opt", "--passes=verify-sync", "--max-errors=0", "-o", into,
                       *paths).stderr if paths else ""
    found = set(re.findall(r"^\S*\bm(\d+)\.skir:.*\berror: ", errors, re.M))
    warned = {}
    for i, line in re.findall(r"^\S*\bm(\d+)\.skir:(\d+):.*\[stale-read\]$", errors, re.M):
        warned.setdefault(int(i), set()).add(int(line) - 1)
    for i, (seed, text, order) in enumerate(mutants):
        why = ""
        try:
            compare_caches(seed, text, prove(text, order)[1], warned.get(i, ()))
            rights += 1
        except judge_entries.Wrong as wrong:
            why = str(wrong)
            wrongs += 1
        if not why and str(i) in found and is_open(text, order):
            undecided += 1
        elif bool(why) != (str(i) in found):
            faults.add(seed, text, f"the judge says {why or 'right'}, skirc the other")


def is_open(text, order):
    """Whether a text is wrong if orders by memory are all those of ops of which the first reads:
    the page leaves open whether a kernel that arrives early must have read what it has written,
    too, before others read it."""
    strict = copy.copy(order)
    strict.overwrites = order.overwrites | order.read_after
    try:
        prove(text, strict)
    except judge_entries.Wrong:
        return True
    return False


def compare_caches(seed, text, stale, lines):
    """Ops that may read what is old, before both."""
    global cleaned
    cleaned += len(stale)
    warned = {int(re.search(r"_id = (\d+)", text.splitlines()[line])[1]) for line in lines}
    if warned != stale:
        caches.add(seed, text, f"the judge finds {stale or 'none'}, skirc {warned or 'none'}")


class Middle:
    """What events in the middle of a launch tell: `into` a launch, which it waits for there, and
    `out` of it. Ops are names."""

    def __init__(self, graph, order, inside, waits, sends):
        launches = judge.Launches(graph)
        self.ordered, self.pairs, self.inside = launches.ordered(), order.pairs, inside
        self.waits, self.sends, self.ends = waits, sends, {}
        for event, sender, receiver in launches.edges():
            ends = self.ends.setdefault(event, ([], []))
            ends[0].extend(map(judge.name_of, launches.ops(sender)))
            ends[1].extend(map(judge.name_of, launches.ops(receiver)))

    def into(self, first, op):
        """The events that tell of an op outside; nothing if all of the launch is behind it."""
        if all((first, other) in self.ordered for other in self.inside):
            return None
        return [event for other in self.inside for event in self.waits[other]
                if other == op or (other, op) in self.pairs
                for told in self.ends[event][0] if told == first or (first, told) in self.ordered]

    def out(self, op, then):
        if all((other, then) in self.ordered for other in self.inside):
            return None
        return [event for other in self.inside for event in self.sends[other]
                if other == op or (op, other) in self.pairs
                for told in self.ends[event][1] if told == then or (told, then) in self.ordered]

    def circles(self):
        """Pairs of events: the sender of the first waits for the second, so that a core must not
        have waited for the first where it notifies the second."""
        waited, sent = ({event for events in table.values() for event in events}
                        for table in (self.waits, self.sends))
        return [(event, told) for event in waited for told in sent
                if any(then == sender or (then, sender) in self.ordered
                       for then in self.ends[told][1] for sender in self.ends[event][0])]


def demand_outside(demands, order, inside, group, kernels, middle):
    """What an entry must do that events in the middle tell of."""
    for first, then in order.uses:
        if first not in inside and then in inside:
            events = middle.into(first, then)
            demands.told[group[then]] += [events] if events is not None else []
    for first, then in order.overwrites:
        if first in inside and then not in inside:
            events = middle.out(first, then)
            demands.tells[group[first]] += [events] if events is not None else []
    for name, op in inside.items():
        for writer in order.written(op, 0) if kernels[op.via].scalar else ():
            events = middle.into(writer, name) if writer not in inside else []
            if events is not None:
                demands.reads[group[name]].append(
                    [("op", group[writer])] if writer in inside else [("event", e) for e in events])


def prove(text, order):
    """Proves the entries of a text; returns their number, and the ops that may read what is old."""
    stale = set()
    graph, = judge.read(text)
    kernels, found = judge_entries.read_kernels(text), judge_entries.read_entries(text)
    by_event = {event: op for op in graph.ops for event in op.send}
    outside = {event for launch in graph.launches for event in launch.send}
    for launch in graph.launches:
        inside = {judge.name_of(op): op for op in graph.ops
                  if op.kernel is launch and not op.passive()}
        group = {name: "%" + op.results[-1 - (op.types[-1] == "token" and len(op.types) > 1)]
                 for name, op in inside.items()}
        demands = judge_entries.Demands()
        required = order.pairs - told(graph, order)
        for found_pairs, into in ((required, demands.before), (order.uses, demands.uses),
                                  (order.overwrites, demands.overwrites)):
            for first, then in found_pairs:
                if first in inside and then in inside:
                    into[group[then]].append(group[first])
        receivers = {event for op in inside.values() for event in op.recv}
        for name, op in inside.items():
            demands.waits[group[name]] = [e for e in op.recv
                                          if e in outside or by_event[e].kernel is not launch]
            demands.sends[group[name]] = [e for e in op.send if e not in receivers]
        entry = found.get(launch.name)
        if not entry:
            raise judge_entries.Wrong(f"no entry of {launch.name}")
        if set(group.values()) != set(entry.groups):
            raise judge_entries.Wrong(f"groups {list(entry.groups)}, ops {list(group.values())}")
        waits, sends = ({name: table[group[name]] for name in inside}
                        for table in (demands.waits, demands.sends))
        middle = Middle(graph, order, inside, waits, sends)
        demand_outside(demands, order, inside, group, kernels, middle)
        demands.circles = middle.circles()
        groups = {value: name for name, value in group.items()}
        stale |= {groups[op] for op in judge_entries.prove(entry, kernels, demands)}
    return len(graph.launches), stale


print(f"# seeds {SEED} to {SEED + COUNT - 1}", flush=True)
for begin in range(SEED, SEED + COUNT, BATCH):
    folder = tempfile.mkdtemp()
    try:
        run(folder, range(begin, min(begin + BATCH, SEED + COUNT)))
        lower(folder, range(begin, min(begin + BATCH, SEED + COUNT), 2))
    finally:
        shutil.rmtree(folder)
accepts.report(f"skirc accepts and refuses what the page does; {refused} are refused")
partitions.report(f"partition-scopes keeps that order; {cuts} super kernels cannot be launches")
events.report(f"streams and events have that order, and no more, in {compared} graphs")
entries.report(f"{proved} entries of {launched} graphs enforce that order")
faults.report(f"of entries with a fault put in both find {wrongs} wrong, {rights} right; "
              f"{undecided} are open")
caches.report(f"in those that are right both find {cleaned} ops that may read old caches")
calls.report(f"{orders} entries with calls in other orders are well; {impossible} texts cannot be")
tap.done()
