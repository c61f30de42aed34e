#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validates objects that weft printed: schema.py FILE..., or the schemas
themselves: schema.py --closed.

The schema of each is doc/schema/NAME-N.json, as its key "schema" says:
weft.NAME/N.  Exits with 1 and a line for each difference.
"""
import glob
import json
import os
import re
import sys

import jsonschema

FOLDER = os.path.join(os.environ.get("WEFT_SRCDIR", "."), "doc", "schema")
validators = {}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def validator(name):
    if name not in validators:
        schema = load(os.path.join(FOLDER, name + ".json"))
        validators[name] = jsonschema.Draft202012Validator(schema)
    return validators[name]


def causes(error):
    """Of alternatives, what the nearest one lacks."""
    if not error.context:
        return [error]
    return [jsonschema.exceptions.best_match([error])]


def differences(path):
    answer = load(path)
    named = re.fullmatch(r"weft\.([a-z]+)/([0-9]+)", str(answer.get("schema")))
    if not named:
        return ["it names no schema"]
    try:
        check = validator("-".join(named.groups()))
    except FileNotFoundError as error:
        return ["no such schema: %s" % error.filename]
    return [
        "%s %s: %s" % (answer["schema"], cause.json_path, cause.message[:300])
        for error in check.iter_errors(answer)
        for cause in causes(error)
    ]


def open_objects(schema, path="$"):
    """Places where a schema would let an unknown key pass, or anything."""
    if isinstance(schema, list):
        for i, part in enumerate(schema):
            yield from open_objects(part, "%s[%d]" % (path, i))
    if not isinstance(schema, dict):
        return
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "object" in kinds and schema.get("additionalProperties", True) is True:
        yield path + " lets unknown keys pass"
    if "array" in kinds and "items" not in schema:
        yield path + " lets any element pass"
    for key, part in schema.items():
        if key in ("properties", "$defs"):
            for name, value in part.items():
                yield from open_objects(value, "%s.%s" % (path, name))
                if not {"type", "const", "enum", "$ref", "oneOf"} & set(value):
                    yield "%s.%s lets anything pass" % (path, name)
        else:
            yield from open_objects(part, "%s.%s" % (path, key))


def closed(path):
    schema = load(path)
    jsonschema.Draft202012Validator.check_schema(schema)
    if os.path.basename(path) != schema["title"][5:].replace("/", "-") + ".json":
        yield "its title is " + schema["title"]
    yield from open_objects(schema)


def main():
    if sys.argv[1:] == ["--closed"]:
        check, paths = closed, sorted(glob.glob(os.path.join(FOLDER, "*.json")))
    else:
        check, paths = differences, sys.argv[1:]
    found = ["%s: %s" % (path, text) for path in paths for text in check(path)]
    print("\n".join(found))
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
