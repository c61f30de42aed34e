#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What abidw says of a library, a line each: abi.py XML HEADER...

The functions that the headers declare, and each struct, union and enum that they
reach: "struct weft_error +0096 char[80] source" is a member at byte 96.
"""
import re
import sys
import xml.etree.ElementTree as xml


class Library:
    def __init__(self, path, declared):
        self.declared = declared
        self.types = {}
        self.lines = set()
        self.functions = {}
        self.seen = set()
        for element in xml.parse(path).getroot().iter():
            if element.tag == "function-decl":
                self.functions[element.get("name")] = element
            elif element.get("id"):
                self.keep(element)

    def keep(self, element):
        # a unit may know the name alone
        known = self.types.get(element.get("id"))
        if known is None or known.get("is-declaration-only"):
            self.types[element.get("id")] = element

    def type(self, ident):
        """The type's text, as in C but for arrays and pointers to functions."""
        element = self.types.get(ident)
        if element is None:
            return "void"
        inner = element.get("type-id")
        tag = element.tag
        if tag == "pointer-type-def":
            text = self.type(inner)
            return text + ("*" if text.endswith("*") else " *")
        if tag == "qualified-type-def":
            text = self.type(inner)
            return text + "const" if text.endswith("*") else "const " + text
        if tag == "array-type-def":
            sizes = [sub.get("length") for sub in element.iter("subrange")]
            return self.type(inner) + "".join("[%s]" % size for size in sizes)
        if tag == "function-type":
            return self.call(element)
        if tag == "typedef-decl":
            return element.get("name")
        return self.named(element)

    def named(self, element):
        kinds = {"class-decl": "struct ", "union-decl": "union ",
                 "enum-decl": "enum "}
        kind = kinds.get(element.tag, "")
        if element.get("is-anonymous"):
            return kind + "{ %s }" % "; ".join(self.members(element))
        text = kind + element.get("name")
        if kind and text not in self.seen:
            self.seen.add(text)
            self.describe(text, element)
        return text

    def describe(self, text, element):
        definition = element
        for other in self.types.values():
            if (other.tag, other.get("name")) == (
                element.tag, element.get("name")
            ) and not other.get("is-declaration-only"):
                definition = other
        if definition.get("is-declaration-only"):
            return
        if definition.get("size-in-bits"):
            self.lines.add(
                "%s: %d bytes" % (text, int(definition.get("size-in-bits")) // 8)
            )
        for member in self.members(definition):
            self.lines.add("%s %s" % (text, member))

    def members(self, element):
        for member in element.iter("data-member"):
            variable = member.find("var-decl")
            bits = int(member.get("layout-offset-in-bits", 0))
            yield "+%04d%s %s %s" % (
                bits // 8, ".%d" % (bits % 8) if bits % 8 else "",
                self.type(variable.get("type-id")), variable.get("name"),
            )
        for value in element.iter("enumerator"):
            yield "%s = %s" % (value.get("name"), value.get("value"))

    def call(self, element):
        arguments = [
            "..." if p.get("is-variadic") else self.type(p.get("type-id"))
            for p in element.findall("parameter")
        ]
        result = self.type(element.find("return").get("type-id"))
        return "%s (%s)" % (result, ", ".join(arguments) or "void")

    def describe_all(self):
        for name, element in self.functions.items():
            if name in self.declared:
                self.lines.add("function %s: %s" % (name, self.call(element)))
        return sorted(self.lines)


def main():
    declared = set()
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            declared.update(re.findall(r"\b(weft_\w+)\(", file.read()))
    print("\n".join(Library(sys.argv[1], declared).describe_all()))


if __name__ == "__main__":
    main()
