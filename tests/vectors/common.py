"""The code that all areas share: the encoding of texts and numbers, and the format of the files with expected results.

A file has one block per case: lines with "> " contain the input, lines with "< " the result. In the files of
`differences`, a line with "= " before the result names the classes of docs/reference/differences.md. Words are
separated by single spaces. In a text, every byte that is not printable ASCII is \\xHH, a space \\s, a backslash
\\x5c; \\e is the empty text, "-" is None, \\x2d a text that is one hyphen. \\? is a value that the version does not
have.
"""

import os

HERE = os.path.dirname(os.path.abspath(__file__))
BASE = "2.8.0"
OLDER = "1.26.20"
UNKNOWN = "\\?"


def word(text):
    """Encodes a text or None as a word of a vector file."""
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
    """Writes a float with 15 digits, or with 17 if 15 do not round-trip. C code can write the same digits."""
    value = float(value)
    text = "%.15g" % value
    text = text if float(text) == value or value != value else "%.17g" % value
    return "0" if text == "-0" else text


def count(value):
    """Encodes a retry count. None, False and the numbers have distinct encodings."""
    return "-" if value is None else "F" if value is False else str(int(value))


def failed(error):
    """Returns the result for an exception that is not one of urllib3's own errors, which shows a defect of urllib3."""
    return [f"raises {type(error).__name__}"]


def same(theirs, ours):
    """Returns true if two results are equal, except for values that one of urllib3's versions does not have."""
    if len(theirs) != len(ours):
        return theirs == [UNKNOWN]
    pairs = [pair for a, b in zip(theirs, ours) for pair in zip(a.split(" "), b.split(" "), strict=False)]
    counts = [len(a.split(" ")) == len(b.split(" ")) for a, b in zip(theirs, ours)]
    return theirs == [UNKNOWN] or all(counts) and all(a in (b, UNKNOWN) for a, b in pairs)


def path(folder, area):
    return os.path.join(HERE, folder, area + ".txt")


def write(folder, area, header, blocks):
    """Writes blocks of (input, classes, result). `classes` is None outside of `differences`."""
    os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    with open(path(folder, area), "w") as out:
        for line in header:
            out.write(f"# {line}\n".replace(" \n", "\n"))
        for case_input, classes, result in blocks:
            out.writelines(f"> {line}\n" for line in case_input)
            if classes is not None:
                out.write(f"= {' '.join(classes)}\n")
            out.writelines(f"< {line}\n" for line in result)


def read(folder, area):
    """Returns a dictionary from the input of each case, as one text, to the lines of its result."""
    results, case_input, result = {}, [], []
    with open(path(folder, area)) as file:
        for line in [*file.read().splitlines(), "> "]:
            if line.startswith("> ") and result:
                results["\n".join(case_input)] = result
                case_input, result = [], []
            if line.startswith("> "):
                case_input.append(line[2:])
            elif line.startswith("< "):
                result.append(line[2:])
    return results
