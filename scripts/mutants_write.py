# SPDX-License-Identifier: Apache-2.0
"""Writes a copy of a C source that holds mutants: places where one condition, bound or operator is another
one. mutants(1) runs them.

    r->a < b && c    ->    (wk__mutant(7) ? (r->a < b) : wk__mutant(8) ? (c) :
                            (wk__mutant(9) ? (r->a <= b) : (r->a < b)) && c)

One build holds them all; which one is on is decided when the program starts. Sites come from clang's syntax tree, so
that only expressions inside functions change, never constants that the compiler needs.
"""
from dataclasses import dataclass, field

from clang.cindex import CursorKind, Index, TypeKind

OTHER = {
    "<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="], "!=": ["=="],
    "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"], "&": ["|"], "|": ["&"],
    "+=": ["-="], "-=": ["+="], "*=": ["+="], "|=": ["&="], "&=": ["|="],
}
RELATIONS = {"<", "<=", ">", ">=", "==", "!="}
BINARY = (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR)
CONDITIONAL = (CursorKind.IF_STMT, CursorKind.WHILE_STMT, CursorKind.CONDITIONAL_OPERATOR)


@dataclass
class Site:
    """An expression with its variants, (what changed, text), in the source's bytes."""
    start: int
    end: int
    line: int
    variants: list
    inner: list = field(default_factory=list)


class Finder:
    def __init__(self, path, arguments):
        self.source = open(path, "rb").read()
        self.unit = Index.create().parse(path, args=arguments)
        self.path = path

    def text(self, cursor):
        return self.source[cursor.extent.start.offset:cursor.extent.end.offset].decode()

    def is_whole(self, cursor):
        """Does the expression stand in this file as it is, not inside a macro?"""
        extent = cursor.extent
        if not extent.start.file or extent.start.file.name != self.path or extent.end.offset <= extent.start.offset:
            return False
        tokens = [t for t in cursor.get_tokens()]
        return bool(tokens) and tokens[0].extent.start.offset == extent.start.offset

    def operator(self, cursor, left, right):
        between = self.source[left.extent.end.offset:right.extent.start.offset].decode()
        return between.strip(" \n\t()") if left.extent.end.offset <= right.extent.start.offset else ""

    def site(self, cursor, variants):
        return Site(cursor.extent.start.offset, cursor.extent.end.offset, cursor.extent.start.line, variants)

    def binary(self, cursor):
        parts = list(cursor.get_children())
        if len(parts) != 2 or not all(self.is_whole(p) for p in parts):
            return None
        left, right = map(self.text, parts)
        op = self.operator(cursor, *parts)
        if op in ("&&", "||"):
            return self.site(cursor, [(f"{op}: only the left", left), (f"{op}: only the right", right)])
        if op not in OTHER:
            return None
        pointers = any(p.type.get_canonical().kind == TypeKind.POINTER for p in parts)
        if pointers and op not in RELATIONS:
            return None
        variants = [(f"{op} -> {o}", f"{left} {o} {right}") for o in OTHER[op]]
        if op in RELATIONS and parts[1].kind == CursorKind.INTEGER_LITERAL and not pointers:
            variants.append((f"{right} -> {right} + 1", f"{left} {op} {right} + 1"))
        return self.site(cursor, variants)

    def condition(self, cursor):
        """A condition that is no comparison itself is turned around."""
        parts = list(cursor.get_children())
        if not parts or parts[0].kind in BINARY or not self.is_whole(parts[0]) or self.text(parts[0]).startswith("!"):
            return None
        return self.site(parts[0], [("turned around", f"!({self.text(parts[0])})")])

    def variants_of(self, cursor):
        if not self.is_whole(cursor):
            return None
        if cursor.kind in BINARY:
            return self.binary(cursor)
        if cursor.kind == CursorKind.UNARY_OPERATOR and self.text(cursor).startswith("!"):
            operand = next(iter(cursor.get_children()))
            return self.site(cursor, [("without !", f"!!({self.text(operand)})")]) if self.is_whole(operand) else None
        if cursor.kind in CONDITIONAL:
            return self.condition(cursor)
        return None

    def is_constant(self, cursor):
        """What the compiler has to know: case labels, sizes of arrays, what is static."""
        if cursor.kind == CursorKind.VAR_DECL:
            return cursor.storage_class.name == "STATIC" or cursor.type.kind == TypeKind.CONSTANTARRAY
        return cursor.kind in (CursorKind.ENUM_DECL, CursorKind.STRUCT_DECL, CursorKind.TYPE_REF)

    def walk(self, cursor, sites):
        children = list(cursor.get_children())
        if cursor.kind == CursorKind.CASE_STMT:
            children = children[1:]
        for child in children:
            if self.is_constant(child):
                continue
            site = self.variants_of(child)
            inside = sites
            if site:
                sites.append(site)
                inside = site.inner
            self.walk(child, inside)

    def sites(self):
        found = []
        for top in self.unit.cursor.get_children():
            if top.kind == CursorKind.FUNCTION_DECL and top.is_definition() and top.location.file.name == self.path:
                body = [c for c in top.get_children() if c.kind == CursorKind.COMPOUND_STMT]
                for cursor in body:
                    self.walk(cursor, found)
        return nested(found)


def nested(sites):
    """A condition's own site may hold that of its `if`, or lie beside what it holds: puts each below the smallest that
    holds it."""
    flat = []

    def collect(some):
        for site in some:
            flat.append(site)
            collect(site.inner)
            site.inner = []

    collect(sites)
    flat.sort(key=lambda s: (s.start, -s.end))
    top, stack = [], []
    for site in flat:
        while stack and stack[-1].end <= site.start:
            stack.pop()
        if stack and (stack[-1].start, stack[-1].end) == (site.start, site.end):
            stack[-1].variants += site.variants
            continue
        (stack[-1].inner if stack else top).append(site)
        stack.append(site)
    return top


def written(source, sites, number):
    """The source with all sites replaced; `number` gives each variant of a site its number, or None to leave it out."""
    def put(start, end, some):
        out, at = [], start
        for site in some:
            out += [source[at:site.start], expression(site)]
            at = site.end
        return b"".join(out + [source[at:end]])

    def expression(site):
        usual = put(site.start, site.end, site.inner)
        numbered = ((number(site, v), text) for v, (_, text) in enumerate(site.variants))
        chosen = [(n, text) for n, text in numbered if n is not None]
        if not chosen:
            return usual
        head = b"".join(b"wk__mutant(%d) ? (%s) : " % (n, text.encode()) for n, text in chosen)
        return b"(" + head + b"(" + usual + b"))"

    return put(0, len(source), sites)
