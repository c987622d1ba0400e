"""What the areas share: how texts and numbers are written, and what the answers' files look like.

A file has blocks, one a case: lines with "> " say what is asked, lines with "< " what is answered; in the files of
`differences`, a line with "= " before the answer names the classes of docs/reference/differences.md. Words stand between single
spaces. In a text, every byte that is not printable ASCII is \\xHH, a space \\s, a backslash \\x5c; \\e is the empty text,
"-" is none, \\x2d a text that is one hyphen. \\? is what the version cannot be asked.
"""

import os

HERE = os.path.dirname(os.path.abspath(__file__))
BASE = "2.8.0"
OLDER = "1.26.20"
UNKNOWN = "\\?"


def word(text):
    """A text, or None."""
    if text is None:
        return "-"
    data = text if isinstance(text, bytes) else str(text).encode()
    if data == b"":
        return "\\e"
    if data == b"-":
        return "\\x2d"
    return "".join("\\s" if b == 32 else chr(b) if 32 < b < 127 and b != 92 else "\\x%02x" % b for b in data)


def words(*values):
    return " ".join(map(word, values))


def number(value):
    """A float in 15 digits, or in 17 where they are needed to mean it; so C can write it too."""
    value = float(value)
    text = "%.15g" % value
    text = text if float(text) == value or value != value else "%.17g" % value
    return "0" if text == "-0" else text


def count(value):
    """A retry count: None, False and numbers kept apart."""
    return "-" if value is None else "F" if value is False else str(int(value))


def failed(error):
    """What is not one of urllib3's own errors: the reference broke."""
    return [f"raises {type(error).__name__}"]


def same(theirs, ours):
    """Whether two answers are equal, apart from what one version cannot be asked."""
    if len(theirs) != len(ours):
        return theirs == [UNKNOWN]
    pairs = [pair for a, b in zip(theirs, ours) for pair in zip(a.split(" "), b.split(" "), strict=False)]
    counts = [len(a.split(" ")) == len(b.split(" ")) for a, b in zip(theirs, ours)]
    return theirs == [UNKNOWN] or all(counts) and all(a in (b, UNKNOWN) for a, b in pairs)


def path(folder, area):
    return os.path.join(HERE, folder, area + ".txt")


def write(folder, area, header, blocks):
    """Blocks are (asked, classes, answer); classes is None outside of `differences`."""
    os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    with open(path(folder, area), "w") as out:
        for line in header:
            out.write(f"# {line}\n".replace(" \n", "\n"))
        for asked, classes, answer in blocks:
            out.writelines(f"> {line}\n" for line in asked)
            if classes is not None:
                out.write(f"= {' '.join(classes)}\n")
            out.writelines(f"< {line}\n" for line in answer)


def read(folder, area):
    """What is asked, as one text, to the answer's lines."""
    answers, asked, answer = {}, [], []
    with open(path(folder, area)) as file:
        for line in [*file.read().splitlines(), "> "]:
            if line.startswith("> ") and answer:
                answers["\n".join(asked)] = answer
                asked, answer = [], []
            if line.startswith("> "):
                asked.append(line[2:])
            elif line.startswith("< "):
                answer.append(line[2:])
    return answers
