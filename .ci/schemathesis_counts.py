"""Judges the answers that schemathesis_hooks.py counted.

Fails when more than 1 % of them are 429, or when an operation of the OpenAPI document
never succeeded, for instance because it was never called. .ci/schemathesis leaves out
the operations that need a language model. Those that need a valid registration or a
browser hardly ever succeed there: the tests of connections have both.
"""
import json
import pathlib
import re
import sys

NEVER = re.compile(r"/ai/generate$|^/oauth/(token|register|eligible-orgs|authorize/consent)$|^/mcp$")
DOCUMENT = pathlib.Path(__file__).parent.parent / "functions/root/openapi.json"


def documented():
    """The operations of the document, named as schemathesis_hooks.py names them."""
    paths = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"]
    return sorted(f"{method.upper()} {path}" for path, methods in paths.items() for method in methods if not NEVER.search(path))


counts = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
operations = documented()
total = sum(sum(c.values()) for c in counts.values())
limited = sum(c.get("429", 0) for c in counts.values())
never = [name for name in operations if not any(code.startswith("2") or code == "302" for code in counts.get(name, {}))]
print(f"{len(counts)} of {len(operations)} operations called, {total} answers, {limited} of them 429")
for name in never:
    print(f"never succeeded: {name} {counts.get(name, 'was never called')}")
sys.exit(bool(never or not operations or limited > total / 100))
