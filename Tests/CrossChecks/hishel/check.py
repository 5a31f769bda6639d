"""Compares the behaviour of hishel and Waystation in the same conversations: check.py DECIDE [SEED [COUNT]]

DECIDE is the program of ../Sources/decide. Prints each rule of RFC 9111 by which they differ, and how often. Fails when
no rule explains a difference, or, with the standard seed, when a rule no longer explains any difference.
"""

import itertools
import json
import subprocess
import sys
import textwrap
from collections import Counter

import peer
from exchanges import Generator
from explanations import RULES

SEED = 45
COUNT = 2_000


class Waystation:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def reports(self, conversation):
        self.process.stdin.write(json.dumps(conversation) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("cross-check: the program ended")
        return json.loads(line)


def first_difference(theirs, ours):
    """The number of the first step that differs. After it the two stores have different contents."""
    return next((number for number, pair in enumerate(zip(theirs, ours)) if pair[0] != pair[1]), None)


def explain(conversation, number, theirs, ours, waystation):
    """The smallest set of one to three rules that explains a difference."""

    def resolves(rules):
        other = conversation
        for rule in rules:
            other = rule.changed(other)
        until = {**other, "steps": other["steps"][: number + 1]}
        repairs = {rule.repair for rule in rules if rule.repair}
        return first_difference(peer.reports(until, repairs), waystation.reports(until)) is None

    speaking = [rule for rule in RULES if rule.repair or rule.changed(conversation) != conversation]
    resolving = []
    for size in (1, 2, 3):
        for rules in itertools.combinations(speaking, size):
            if any(fewer <= {rule.name for rule in rules} for fewer in resolving) or not resolves(rules):
                continue
            if any(rule.shows(theirs, ours) for rule in rules):
                return rules
            resolving.append({rule.name for rule in rules})
    return ()


def words(report):
    return " ".join(f"{report[key]}" for key in ("verdict", "answer", "outcome") if key in report)


def main(program, seed=SEED, count=COUNT):
    waystation = Waystation(program)
    compared, differences, classes = 0, 0, Counter()
    explained, together = Counter(), Counter()
    unexplained = []
    for conversation in Generator(seed).conversations(count):
        theirs, ours = peer.reports(conversation), waystation.reports(conversation)
        number = first_difference(theirs, ours)
        compared += len(theirs) if number is None else number + 1
        if number is None:
            continue
        differences += 1
        classes[words(theirs[number]) + " | " + words(ours[number])] += 1
        rules = explain(conversation, number, theirs[number], ours[number], waystation)
        (explained if len(rules) == 1 else together).update(rule.name for rule in rules)
        if not rules:
            unexplained.append((conversation, number, theirs[number], ours[number]))

    print("What hishel did | what Waystation did")
    for name, times in classes.most_common():
        print(f"{times:6}  {name}")
    print("\nWhy: alone, together with another rule")
    for rule in RULES:
        print(f"{explained[rule.name]:6} {together[rule.name]:4}  {rule.name}: {rule.section}")
        print(textwrap.fill(rule.why, 110, initial_indent=" " * 13, subsequent_indent=" " * 13))
    for conversation, number, theirs, ours in unexplained:
        print(f"\nunexplained, conversation {conversation['number']}, step {number}: {theirs} | {ours}")
        for step in conversation["steps"][: number + 1]:
            print("   ", json.dumps(step))
    unused = [rule.name for rule in RULES if not explained[rule.name] + together[rule.name] and seed == SEED]
    if unused:
        print(f"\nrules that explain nothing: {', '.join(unused)}")
    print(
        f"\ncross-check: {count} conversations, {compared} exchanges, {differences} differences, "
        f"{len(unexplained)} unexplained"
    )
    sys.exit(1 if unexplained or unused else 0)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
