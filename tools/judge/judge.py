"""Holds proposed agendas against CP-SAT of OR-Tools.

Reads the lines of `go run ./tools/judge` and prints a table in Markdown. For each instance the script

- checks the agenda of the solver: each hard rule and each penalty, from the instance alone;
- lets CP-SAT solve the same instance with the same penalties, alone;
- lets CP-SAT improve the agenda of the solver for as long: how much a longer search would gain;
- checks the agendas of CP-SAT in the same way.

A session may have no place, for 1,000,000. The exit status is 1 if an agenda of the solver has a hard conflict, differs
from the score that the solver reports or that the model gives it, or is worse than the agenda of CP-SAT alone by more
than 5 %, or than the improved one by more than 15 %; and if CP-SAT finds no agenda: then the model is wrong. Where both
leave out as many sessions, the other penalties alone are compared.

    judge.py [SECONDS] < lines
"""

import itertools
import json
import math
import sys

from ortools.sat.python import cp_model

UNPLACED, WARNING, TRACK, CLASH, DAY = 1_000_000, 240, 60, 60, 120
WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


class Instance:
    """An instance with its rules by level."""

    def __init__(self, line):
        self.name, self.slot, self.days = line["name"], line["slot_minutes"], [(d["starts"], d["ends"]) for d in line["days"]]
        self.seats = {r["id"]: r["seats"] for r in line["rooms"]}
        self.sessions = {s["id"]: s for s in line["sessions"]}
        self.offsets, ends = {}, {}
        for i, s in self.sessions.items():
            if parent := s["parent"]:  # Subsessions follow each other.
                self.offsets[i] = ends.get(parent, 0)
                ends[parent] = self.offsets[i] + s["minutes"]
        self.rules = {"error": [], "warning": []}
        for rule in line["rules"] or []:
            self.rules[rule["config"].get("level", "error")].append(rule)
        self.capacity = next((r["config"].get("level", "error") for r in line["rules"] or [] if r["type"] == "room_capacity"), "error")

    def of(self, level, kind):
        """Returns the parameters of the rules of a level and type."""
        return [r["config"] for r in self.rules[level] if r["type"] == kind]

    def gap(self):
        """Returns the gap that rules of level error ask for."""
        return max([r["minutes"] for r in self.of("error", "min_gap_minutes")], default=0)

    def shared(self, a, b):
        """Returns how many people two sessions share; none for a session and its parent."""
        a, b = self.sessions[a], self.sessions[b]
        if a["parent"] == b["id"] or b["parent"] == a["id"]:
            return 0
        return len(set(a["people"] or []) & set(b["people"] or []))

    def siblings(self, a, b):
        """Reports whether two sessions have one parent."""
        return self.sessions[a]["parent"] != "" and self.sessions[a]["parent"] == self.sessions[b]["parent"]

    def missing(self, session, room):
        """Returns how many seats a room lacks."""
        return max(0, self.sessions[session]["audience"] - self.seats[room])

    def tops(self):
        """Returns the sessions that are no subsessions."""
        return [i for i, s in self.sessions.items() if not s["parent"]]

    def day(self, start):
        """Returns the day of a time."""
        return next((n for n, (begin, end) in enumerate(self.days) if begin <= start < end), None)

    def outside(self, window, start, end):
        """Reports whether a span is not in a time_window."""
        weekday = WEEKDAYS[start // 1440 % 7]
        opens, closes = (int(window[key][:2]) * 60 + int(window[key][3:]) for key in ("starts", "ends"))
        if start // 1440 != end // 1440 or window.get("weekdays") and weekday not in window["weekdays"]:
            return True
        return start % 1440 < opens or end % 1440 > closes

    def may_start(self, session, start):
        """Reports whether a session may start at a time: within a day, and in each window of level error."""
        end, day = start + self.sessions[session]["minutes"], self.day(start)
        if day is None or end > self.days[day][1]:
            return False
        return not any(self.outside(w, start, end) for w in self.of("error", "time_window"))


def check(instance, places):
    """Returns the hard conflicts of an agenda, and the score by part. places has start and room by session."""
    hard, score = [], dict.fromkeys(["unplaced", "warnings", "tracks", "clashes", "seats", "idle", "days"], 0)
    sessions = instance.sessions
    score["unplaced"] = UNPLACED * (len(sessions) - len(places))
    span = {i: (start, start + sessions[i]["minutes"]) for i, (start, _) in places.items()}
    for i, (start, room) in places.items():
        s = sessions[i]
        if not instance.may_start(i, start) and not s["fixed"]:
            hard.append(f"{i} starts at {start}")
        if s["parent"] and not s["fixed"]:
            parent = s["parent"]
            if parent not in places or places[parent][1] != room or span[i][0] < span[parent][0] or span[i][1] > span[parent][1]:
                hard.append(f"{i} is not within its parent")
        elif not s["fixed"] and not any((start - begin) % instance.slot == 0 for begin, end in instance.days if begin <= start < end):
            hard.append(f"{i} is in no slot")
        score["warnings"] += WARNING * sum(instance.outside(w, *span[i]) for w in instance.of("warning", "time_window"))
        if missing := instance.missing(i, room):
            score["seats"] += missing
            if instance.capacity == "error":
                hard.append(f"{i} needs a larger room")
            else:
                score["warnings"] += WARNING
    for a, b in itertools.combinations(places, 2):
        overlap = span[a][0] < span[b][1] and span[b][0] < span[a][1]
        apart = max(span[a][0] - span[b][1], span[b][0] - span[a][1])
        family = sessions[a]["parent"] == b or sessions[b]["parent"] == a
        shared, siblings = instance.shared(a, b), instance.siblings(a, b)
        if overlap and places[a][1] == places[b][1] and not family:
            hard.append(f"{a} and {b} are in one room")
        if shared and (overlap or not siblings and apart < instance.gap()):
            hard.append(f"{a} and {b} share people")
        if shared and not overlap and not siblings:
            score["warnings"] += WARNING * shared * sum(apart < r["minutes"] for r in instance.of("warning", "min_gap_minutes"))
        if overlap and sessions[a]["track"] and sessions[a]["track"] == sessions[b]["track"] and not sessions[a]["parent"] + sessions[b]["parent"]:
            score["clashes"] += CLASH
    for level in ("error", "warning"):
        for r in instance.of(level, "order"):
            first, then = span.get(r["before_session_id"]), span.get(r["after_session_id"])
            if first and then and first[1] > then[0]:
                if level == "error":
                    hard.append(f"order {r}")
                else:
                    score["warnings"] += WARNING
    for track in {s["track"] for s in sessions.values()} - {""}:
        rooms = [room for i, (_, room) in places.items() if sessions[i]["track"] == track]
        away = len(rooms) - max([rooms.count(room) for room in rooms], default=0)
        score["tracks"] += TRACK * away
        score["warnings"] += WARNING * away * sum(r["track_id"] == track for r in instance.of("warning", "track_in_one_room"))
        if away and any(r["track_id"] == track for r in instance.of("error", "track_in_one_room")):
            hard.append(f"track {track} is in several rooms")
    for room, day in itertools.product(instance.seats, range(len(instance.days))):
        spans = [span[i] for i in places if places[i][1] == room and not sessions[i]["parent"] and instance.day(span[i][0]) == day]
        if spans:
            score["idle"] += max(e for _, e in spans) - min(s for s, _ in spans) - sum(e - s for s, e in spans)
    for person in {p for s in sessions.values() for p in s["people"] or []}:
        days = {instance.day(span[i][0]) for i in places if person in (sessions[i]["people"] or [])} - {None}
        score["days"] += DAY * max(0, len(days) - 1)
    return hard, score


class Model:
    """The model of an instance in CP-SAT. Times are in units: the greatest common divisor of all lengths and gaps."""

    def __init__(self, instance):
        self.instance, self.cp, self.costs = instance, cp_model.CpModel(), []
        gaps = [r["minutes"] for level in ("error", "warning") for r in instance.of(level, "min_gap_minutes")]
        self.unit = math.gcd(instance.slot, *[s["minutes"] for s in instance.sessions.values()], *gaps, *[t for d in instance.days for t in d])
        self.start, self.present, self.in_room, self.on_day, self.order = {}, {}, {}, {}, {}
        for i in instance.sessions:
            self.add_session(i)
        self.add_rooms()
        self.add_people()
        self.add_tracks()
        self.add_orders()
        self.cp.minimize(sum(self.costs))

    def length(self, i):
        """Returns the length of a session in units."""
        return self.instance.sessions[i]["minutes"] // self.unit

    def end(self, i):
        """Returns the end of a session."""
        return self.start[i] + self.length(i)

    def add_session(self, i):
        """Adds the start, the room and the day of a session. A subsession starts at its offset after its parent."""
        s, unit = self.instance.sessions[i], self.unit
        step = unit if s["parent"] else self.instance.slot
        starts = [t for begin, end in self.instance.days for t in range(begin, end, step) if self.instance.may_start(i, t)]
        rooms = [r for r in self.instance.seats if self.instance.capacity == "warning" or not self.instance.missing(i, r)]
        if s["fixed"]:
            starts, rooms = [s["starts"]], [s["room"]]
        self.start[i] = self.cp.new_int_var_from_domain(cp_model.Domain.from_values([t // unit for t in starts]), f"start {i}")
        self.present[i] = self.cp.new_bool_var(f"{i} present")
        self.costs.append(UNPLACED * (1 - self.present[i]))
        if s["fixed"]:
            self.cp.add(self.present[i] == 1)
        self.in_room[i] = {r: self.cp.new_bool_var(f"{i} in {r}") for r in rooms}
        self.cp.add(sum(self.in_room[i].values()) == self.present[i])
        self.on_day[i] = []
        for begin, end in self.instance.days:
            on = self.cp.new_bool_var(f"{i} on {begin}")
            self.cp.add_linear_constraint(self.start[i], begin // unit, end // unit - 1).only_enforce_if(on)
            self.on_day[i].append(on)
        self.cp.add(sum(self.on_day[i]) == self.present[i])
        for r, literal in self.in_room[i].items():
            if missing := self.instance.missing(i, r):
                self.costs.append((missing + (WARNING if self.instance.capacity == "warning" else 0)) * literal)
        for window in self.instance.of("warning", "time_window"):
            inside = [t // unit for t in starts if not self.instance.outside(window, t, t + s["minutes"])]
            broken = self.cp.new_bool_var(f"{i} outside")
            self.cp.add_linear_expression_in_domain(self.start[i], cp_model.Domain.from_values(inside)).only_enforce_if(~broken, self.present[i])
            self.costs.append(WARNING * broken)

    def add_rooms(self):
        """Adds the overlaps in rooms, the idle time, and the subsessions within parents."""
        tops = self.instance.tops()
        for room in self.instance.seats:
            users = [i for i in tops if room in self.in_room[i]]
            self.cp.add_no_overlap(
                [self.cp.new_optional_fixed_size_interval_var(self.start[i], self.length(i), self.in_room[i][room], f"{i} {room}") for i in users])
            for day, (begin, end) in enumerate(self.instance.days):
                self.add_idle(room, day, (begin // self.unit, end // self.unit), users)
        for parent in tops:
            parts = [i for i, s in self.instance.sessions.items() if s["parent"] == parent]
            for i in parts:
                self.cp.add(self.start[i] == self.start[parent] + self.instance.offsets[i] // self.unit)
                self.cp.add(self.present[i] == self.present[parent])
                for room in self.instance.seats:
                    self.cp.add(self.in_room[i].get(room, 0) == self.in_room[parent].get(room, 0))

    def add_idle(self, room, day, bounds, users):
        """Adds the idle time of a room on a day."""
        first, last = (self.cp.new_int_var(*bounds, f"{end} {room} {day}") for end in ("first", "last"))
        busy = []
        for i in users:
            here = self.cp.new_bool_var(f"{i} {room} {day}")
            self.cp.add_bool_or(~self.in_room[i][room], ~self.on_day[i][day], here)
            self.cp.add_implication(here, self.in_room[i][room])
            self.cp.add_implication(here, self.on_day[i][day])
            self.cp.add(first <= self.start[i]).only_enforce_if(here)
            self.cp.add(last >= self.end(i)).only_enforce_if(here)
            busy.append(self.length(i) * here)
        self.cp.add(last - first >= sum(busy))
        self.costs.append(self.unit * (last - first - sum(busy)))

    def before(self, a, b, gap=0):
        """Returns a literal: if true, session a ends at least gap minutes before session b starts."""
        key = (a, b, gap)
        if key not in self.order:
            self.order[key] = self.cp.new_bool_var(f"{a} before {b} by {gap}")
            self.cp.add(self.start[b] >= self.end(a) + gap // self.unit).only_enforce_if(self.order[key])
        return self.order[key]

    def absent(self, a, b):
        """Returns the literals of two sessions that have no place."""
        return ~self.present[a], ~self.present[b]

    def add_people(self):
        """Adds the overlaps, gaps and days of people."""
        hard = self.instance.gap()
        for a, b in itertools.combinations(self.instance.sessions, 2):
            shared, siblings = self.instance.shared(a, b), self.instance.siblings(a, b)
            if not shared:
                continue
            gap = 0 if siblings else hard
            self.cp.add_bool_or(self.before(a, b, gap), self.before(b, a, gap), *self.absent(a, b))
            for r in self.instance.of("warning", "min_gap_minutes"):
                if not siblings and r["minutes"] > gap:
                    short = self.cp.new_bool_var(f"{a} near {b}")
                    self.cp.add_bool_or(self.before(a, b, r["minutes"]), self.before(b, a, r["minutes"]), short, *self.absent(a, b))
                    self.costs.append(WARNING * shared * short)
        for person in {p for s in self.instance.sessions.values() for p in s["people"] or []}:
            theirs = [i for i, s in self.instance.sessions.items() if person in (s["people"] or [])]
            if len(theirs) < 2:
                continue
            tops = [i for i in theirs if not self.instance.sessions[i]["parent"]]
            self.cp.add_no_overlap([self.cp.new_optional_fixed_size_interval_var(
                self.start[i], self.length(i) + hard // self.unit, self.present[i], f"{i} {person}") for i in tops])
            days = []
            for day in range(len(self.instance.days)):
                days.append(self.cp.new_bool_var(f"{person} on {day}"))
                for i in theirs:
                    self.cp.add_implication(self.on_day[i][day], days[-1])
            more = self.cp.new_int_var(0, len(days), f"days of {person}")
            self.cp.add(more >= sum(days) - 1)
            self.costs.append(DAY * more)

    def add_tracks(self):
        """Adds the room of each track, and the sessions of a track at one time."""
        for track in {s["track"] for s in self.instance.sessions.values()} - {""}:
            theirs = [i for i, s in self.instance.sessions.items() if s["track"] == track]
            home = {r: self.cp.new_bool_var(f"{track} in {r}") for r in self.instance.seats}
            self.cp.add_exactly_one(home.values())
            warnings = sum(r["track_id"] == track for r in self.instance.of("warning", "track_in_one_room"))
            for i in theirs:
                away = self.cp.new_bool_var(f"{i} away")
                for room, literal in self.in_room[i].items():
                    self.cp.add_bool_or(~literal, home[room], away)
                self.costs.append((TRACK + WARNING * warnings) * away)
                if any(r["track_id"] == track for r in self.instance.of("error", "track_in_one_room")):
                    self.cp.add(away == 0)
            for a, b in itertools.combinations([i for i in theirs if not self.instance.sessions[i]["parent"]], 2):
                clash = self.cp.new_bool_var(f"{a} against {b}")
                self.cp.add_bool_or(self.before(a, b), self.before(b, a), clash, *self.absent(a, b))
                self.costs.append(CLASH * clash)

    def add_orders(self):
        """Adds the rules of type order."""
        for level in ("error", "warning"):
            for r in self.instance.of(level, "order"):
                a, b = r["before_session_id"], r["after_session_id"]
                broken = self.cp.new_bool_var(f"order of {a} and {b}")
                self.cp.add_bool_or(self.before(a, b), broken, *self.absent(a, b))
                if level == "error":
                    self.cp.add(broken == 0)
                else:
                    self.costs.append(WARNING * broken)

    def hint(self, places):
        """Lets the search begin with an agenda, and returns the score that the model gives it; None if the model forbids it.

        The first search finds the best values of all other variables, so that the hint has a value for each."""
        for i, rooms in self.in_room.items():
            self.cp.add_hint(self.present[i], i in places)
            if i in places:
                self.cp.add_hint(self.start[i], places[i][0] // self.unit)
                for room, literal in rooms.items():
                    self.cp.add_hint(literal, room == places[i][1])
        solver = cp_model.CpSolver()
        solver.parameters.fix_variables_to_their_hinted_value = True
        solver.parameters.max_time_in_seconds = 60
        if solver.solve(self.cp) != cp_model.OPTIMAL:
            return None
        self.cp.clear_hints()
        for variable, value in enumerate(solver.response_proto.solution):
            self.cp.add_hint(self.cp.get_int_var_from_proto_index(variable), value)
        return round(solver.objective_value)

    def solve(self, seconds):
        """Returns the status, the agenda (None without any), the lower bound of the score, and the score by the model."""
        solver = cp_model.CpSolver()
        solver.parameters.max_time_in_seconds = seconds
        solver.parameters.num_workers = 8
        status = solver.solve(self.cp)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return solver.status_name(status), None, None, None
        places = {}
        for i, rooms in self.in_room.items():
            if solver.value(self.present[i]):
                places[i] = (solver.value(self.start[i]) * self.unit, next(r for r, literal in rooms.items() if solver.value(literal)))
        return solver.status_name(status), places, math.ceil(solver.best_objective_bound), round(solver.objective_value)


def proposed(line):
    """Returns the places of fixed sessions and the places that the solver proposes."""
    places = {s["id"]: (s["starts"], s["room"]) for s in line["sessions"] if s["fixed"]}
    places.update({p["id"]: (p["starts"], p["room"]) for p in line["placed"]})
    return places


def row(line, seconds):
    """Returns the cells of an instance, and what the agenda of the solver lacks."""
    instance, lacks = Instance(line), []
    hard, score = check(instance, proposed(line))
    unplaced, ours = len(line["unplaced"] or []), sum(score.values())
    if hard or line["errors"]:
        lacks.append(f"hard conflicts: {hard[:3]}, {line['errors']} of the check in Go")
    if line["score"] != score:
        lacks.append(f"the solver reports {line['score']}, and the script counts {score}")
    cells = [instance.name, len(instance.sessions), len(instance.seats), unplaced, len(hard), ours]
    if line["alone"]:
        if unplaced:
            lacks.append(f"{unplaced} sessions have no place")
        return cells + [""] * 6, lacks
    alone, improved = Model(instance), Model(instance)
    if (modelled := improved.hint(proposed(line))) != ours:
        lacks.append(f"the model gives the agenda of the solver {modelled}, and the script {ours}")
    for model, most in ((alone, 5), (improved, 15)):
        status, places, bound, modelled = model.solve(seconds)
        if places is None:
            lacks.append(f"CP-SAT finds no agenda ({status}), although it may leave all sessions out")
            return cells + [""] * 6, lacks
        wrong, parts = check(instance, places)
        if wrong:
            lacks.append(f"the agenda of CP-SAT has hard conflicts: {wrong[:3]}")
        if modelled < sum(parts.values()) or status == "OPTIMAL" and modelled != sum(parts.values()):
            lacks.append(f"the model gives its agenda {modelled}, and the script {sum(parts.values())}")
        more = above(score, parts)
        if more > most:
            lacks.append(f"{ours} is more than {most} % above {sum(parts.values())} of CP-SAT")
        if model is alone:
            cells.append(status.lower())
        cells += [sum(parts.values()), f"{more:+.1f} %"]
    print(f"{instance.name}: {cells}, bound {bound}, {score}", file=sys.stderr)
    return cells + [bound], lacks


def above(ours, theirs):
    """Returns by how many percent our score is above theirs: without the sessions that have no place, if both leave out as many."""
    mine, best = sum(ours.values()), sum(theirs.values())
    if ours["unplaced"] == theirs["unplaced"]:
        mine, best = mine - ours["unplaced"], best - theirs["unplaced"]
    return 100 * (mine - best) / max(best, 1)


def main():
    """Prints the table."""
    seconds, failed = float(sys.argv[1]) if len(sys.argv) > 1 else 60, False
    print("| instance | sessions | rooms | unplaced | hard conflicts | score | CP-SAT alone | its score | ours above | improved by CP-SAT | ours above | bound |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for text in sys.stdin:
        cells, lacks = row(json.loads(text), seconds)
        print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)
        for lack in lacks:
            failed = True
            print(f"{cells[0]}: {lack}", file=sys.stderr)
    sys.exit(1 if failed else 0)


main()
