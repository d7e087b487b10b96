"""Lines that are broken in some way, made of lines that are right."""

import json
import random

VALUES = [None, True, -1, 0, 1e300, 2**63, "", "x", "-1Gi", "9" * 40, [], {}, [[]], "\u0000", "${jndi}", 0.1]


def mutate(line, seed):
    """The line with one to three changes: in its bytes, or of a value, a key or an element somewhere in its tree."""
    draw = random.Random(seed)
    for _ in range(draw.randint(1, 3)):
        line = of_bytes(line, draw) if draw.random() < 0.3 else of_tree(line, draw)
    return line.replace(b"\n", b" ")


def of_bytes(line, draw):
    at = draw.randrange(len(line))
    kind = draw.randrange(4)
    if kind == 0:
        return line[:at] + bytes([draw.randrange(256)]) + line[at + 1:]
    if kind == 1:
        return line[:at] + line[at + draw.randint(1, 20):] or b"{"
    if kind == 2:
        return line[:at] or b"{"
    return line[:at] + line[max(0, at - draw.randint(1, 40)):]


def of_tree(line, draw):
    try:
        tree = json.loads(line)
    except ValueError:  # an earlier change broke it
        return of_bytes(line, draw)
    places = list(containers(tree))
    if not places:
        return of_bytes(line, draw)
    container = draw.choice(places)
    key = draw.choice(list(container) if isinstance(container, dict) else range(len(container)))
    kind = draw.randrange(4)
    if kind == 0:
        container[key] = draw.choice(VALUES)
    elif kind == 1:
        del container[key]
    elif kind == 2 and isinstance(container, dict):
        container[key + "x"] = container[key]
    elif kind == 3 and isinstance(container, list):
        container.append(container[key])
    else:
        other = draw.choice(places)
        container[key] = json.loads(json.dumps(other))
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def containers(tree):
    """All objects and lists in it that hold something."""
    if isinstance(tree, (dict, list)) and tree:
        yield tree
        for value in tree.values() if isinstance(tree, dict) else tree:
            yield from containers(value)
