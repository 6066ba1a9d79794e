"""Prose and names use the field's terms (docs/contribute/style.md): one term for each thing, and no riddles."""

import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Replacements of patterns, in which a blank is any white space. `Code` in prose is never searched.
WORDS = {
    r"\b(What|That|Who|Whether|Where)\b": "begin the sentence with its subject",
    r"[\w*] : [^\n]*\n(Of|For|In)\b": "begin the description with a noun or a verb",
    r"\b(best|last|first|final|each|every|one|per|of all|number of|earlier|later) pass(es)?\b(?! over)": "iteration",
    r"(\(|, )((best|last)-(pass|fold)|validated)(?=\)|\n|$)": "the label in skem.repro.protocols.LABELS",
    r"\b([Tt]he|[Aa]|no) ridges?\b": "covariance regularisation",
    r"(?<!tandard )(?<!tandard-)(?<!squared )\bdeviations?\b(?! from|:)": "standard deviation",
    r"\b(test|training|validation|labelled|unlabelled) rows?\b": "samples",
    r"\b(poor|better|random|several|each|every) starts?\b(?! (of|with|at|from|a)\b)|\bthe start\b(?! of)": "initialisation",
    r"\b[Rr]ivals?\b|\bconventional methods\b": "baselines",
    r"\b[Ff]ine-?tun\w*": "discriminative training",
    r"\btoo sure\b": "overconfident",
    r"\b([Tt]he|a) frontier\b": "classifier comparison",
    r"\b[Tt]he ledger\b": "claims table",
    r"\b([Rr]egression|of the|[Tt]he) gates?\b": "regression test",
    r"\b(doors?|corridors?|rooms)\b": "layer, module, section",
    r"\btold\b": "repeated, named, distinguished",
    r"\b(what is there|not to be had|(can|could) (no longer )?be had)\b": "available, unavailable",
    r"\banew\b|\bonce more\b": "again",
    r"\b[Ee]rrs? (less|more)\b": "has a lower error, has a higher error",
    r"\bso sure of\b": "overconfident",
    r"\b(is|are) level (with|by)\b": "performs similarly to",
    r"\b[Ss]upport vector machines?\b": "SVM",
    r"\bin place of\b": "instead of",
    r"\b[Nn]obody (asks|wants|knows)\b|\b([Ii]t|[Ee]ach|code|function|class|model|method|engine|program) "
    r"(knows?|sees?|tells?|wants?)\b": "a verb for programs: has, reads, returns, needs",
}
NAMES = (
    r"_*(alike|anew|apart|told|relief|usual|made_for|of_all|of_rest|opened|sharp_enough|pooled_where_alike)_*"
)
SUFFIXES = {".j2", ".md", ".py", ".rst", ".smk", ".svg", ".yaml"}
STRINGS = tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", None)
CODE = r"`+[^`]+`+"
PAGE_CODE = rf"```.*?```|^    \S.*?$|\{{[{{%#].*?[}}%#]\}}|\]\([^)]*\)|{CODE}"


def blank(match):
    return "\n" * match[0].count("\n") or " X "


def prose(path):
    """Prose of a file, at its lines: pages, labels of figures, comments, and strings with blanks; and its names in code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".md", ".j2", ".rst"):
        return re.sub(PAGE_CODE, blank, text, flags=re.DOTALL | re.MULTILINE), []
    if path.suffix == ".svg":
        return "\n".join(re.findall("<!-- (.*?) -->", text)), []
    if path.suffix == ".yaml":
        return re.sub(rf"^[ -]*[\w.*-]+:|{CODE}", blank, text, flags=re.MULTILINE), []
    kept, line, names = [], 1, []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_prose = token.type == tokenize.COMMENT or (token.type in STRINGS and " " in token.string)
        words = re.sub(rf"\{{[^{{}}]*\}}|{CODE}", blank, token.string.lstrip("# ")) if is_prose else " X "
        if token.string.strip():
            kept += ["\n" * (token.start[0] - line), words]
            line = token.end[0]
        if token.type == tokenize.NAME:
            names.append((line, token.string))
    return "".join(kept), names


def faults(path):
    text, names = prose(path)
    text = re.sub(r"[ \t]*\n[ \t]*", "\n", text)
    for pattern, replacement in WORDS.items():
        for found in re.finditer(pattern.replace(" ", r"[ \n]"), text):
            yield f"{text[: found.end()].count(chr(10)) + 1}: {found[0]!r}: {replacement}"
    for line, name in names:
        if re.fullmatch(NAMES, name):
            yield f"{line}: {name}: a noun or a verb"


def sources():
    """Files of the project, without outputs of a build and pages that a template renders."""
    templates = ROOT / "docs/templates"
    rendered = {
        ROOT / "docs" / path.relative_to(templates).with_suffix("") for path in templates.rglob("*.j2")
    }
    yield from (ROOT / "Snakefile", ROOT / "CONTRIBUTING.md")
    for folder in ("config", "docs", "examples", "profiles", "results/reference/figures", "skem", "workflow"):
        for path in sorted((ROOT / folder).rglob("*")):
            built = {"_build", "gallery"} & {*path.relative_to(ROOT).parts}
            if path.suffix in SUFFIXES and not built and path not in rendered:
                yield path


def test_terms():
    found = [f"{path.relative_to(ROOT)}:{fault}" for path in sources() for fault in faults(path)]
    assert not found, "\n".join(found)
