"""The string constants of the product's own sources: names that mean something to it."""
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("model", "heuristics", "solver", "io", "datasets", "cli")
LITERAL = re.compile(r'R"\((.*?)\)"|"((?:[^"\\\n]|\\.)*)"', re.S)


def own_words(longest=40):
    """Sorted. Of raw strings, the words in quotes."""
    words = set()
    for folder in FOLDERS:
        for file in sorted((TOP / folder).rglob("*")):
            if file.suffix not in (".h", ".cpp"):
                continue
            text = re.sub(r"^#include.*$|^\s*//.*$", "", file.read_text(encoding="utf-8"), flags=re.M)
            for raw, plain in LITERAL.findall(text):
                words.update(re.findall(r'"([^"]*)"', raw) if raw else [plain.replace('\\"', '"')])
    return sorted(word for word in words if 0 < len(word) <= longest and word.isprintable() and "\\" not in word)
