"""Judges the answers that schemathesis_hooks.py counted.

Fails when more than 1 % of them are 429, or an operation never succeeded.
"""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    counts = json.load(file)
total = sum(sum(c.values()) for c in counts.values())
limited = sum(c.get("429", 0) for c in counts.values())
never = [name for name, c in sorted(counts.items()) if not any(code.startswith("2") for code in c)]
print(f"{len(counts)} operations, {total} answers, {limited} of them 429")
for name in never:
    print(f"never succeeded: {name} {counts[name]}")
sys.exit(bool(never or not counts or limited > total / 100))
