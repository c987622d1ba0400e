"""Makes Javadoc comments from the comments of netlib.h."""

import re
import textwrap

from dynamic import truth_words, words
from java_names import all_names, local

WIDTH = 113
ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;", "{": "&#123;", "}": "&#125;"}
# Words about lengths, pointers and presets, which a caller of Java does not see.
ONLY_IN_C = [
    (r"\s*netlib (?:presets|sets `\*)[^.]*\.", ""),
    (r"\s*netlib takes ownership of the\s+stored reference[^.]*\.", ""),
    (r"`\*replacement` is NULL when the callback is called\.\s*", ""),
    (r"[,;] borrowed until the\s+callback returns", ""),
    (r"stores no verdict or any other value", "returns any other value"),
    (r"did not store an output that the answer requires", "gave no number that the answer requires"),
    (r"\ban array of `count` ", "an array of "),
    (r"^`count` (?=\w)", ""),
    (r"\bat most `len`", "at most the size of the buffer"),
    (r"\bfrom 1 to `len`", "from 1 to the number of given bytes"),
    (r"`len` bytes", "bytes"),
    (r"`(len|count)`", lambda found: "the length" if found[1] == "len" else "the count"),
    (r"`\*(\w+)`", r"`\1`"),
]


class Javadoc:
    def __init__(self, api):
        self.parameters = {
            param["name"]: local(param["name"])
            for item in [*api.data["functions"], *api.callbacks.values()]
            for param in item["params"]
            if "_" in param["name"]
        }
        self.names = all_names(api)
        no_links = {"null", "byte[]", "the length of the text", "CtxFreeCallback"}
        self.links = {name: name.replace(".", "#") for name in self.names.values() if name not in no_links}

    def words(self, text, is_truth_value=False):
        """The comment in the words of Java, still with `code` and lists."""
        text = text or ""
        for pattern, replacement in ONLY_IN_C:
            text = re.sub(pattern, replacement, text)
        text = words(text, self.names)
        return truth_words(text) if is_truth_value else text

    def comment(self, text, indent, tags=()):
        """A comment of a text and tags, each a pair of a tag such as "@param a" and a text. Both are made by `words`."""
        lines = self.html(text)
        tags = [(tag, found) for tag, found in tags if found]
        if lines and tags:
            lines.append("")
        for tag, found in tags:
            first, *rest = self.html(f"{tag} {found}", keep=len(tag))
            lines += [first, *("    " + line for line in rest)]
        if not lines:
            return ""
        return f"{indent}/**\n" + "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines) + f"{indent} */\n"

    def html(self, text, keep=0):
        """The lines of a text in HTML. The first `keep` characters are a tag of Javadoc."""
        lines, open_list = [], False
        for at, (kind, part) in enumerate(parts(text)):
            if open_list != (kind == "item"):
                lines.append("</ul>" if open_list else "<ul>")
                open_list = not open_list
            if kind == "code":
                code = textwrap.dedent(part)
                lines += ["<pre>", *(escaped(line) for line in code.split("\n")), "</pre>"]
            else:
                start = "<li>" if kind == "item" else "<p>" if at else part[:keep]
                if start == "<p>":
                    lines.append("")
                lines += wrapped(start + self.inline(part[0 if at else keep :]))
        return lines + ["</ul>"] if open_list else lines

    def inline(self, text):
        """A text with links to the names of Java, in quotation marks or not."""
        made = []
        for quoted, name, other in re.findall(r"`([^`]*)`|([A-Z]\w*\.\w+)(?!\w)|([^`A-Z]+|.)", text, re.S):
            if quoted or name in self.links:
                made.append(self.code(quoted or name))
            else:
                made.append(escaped(name or other))
        return re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", "".join(made))

    def code(self, text):
        text = self.parameters.get(text, text)
        target = self.links.get(text)
        if target:
            return f"{{@link {target}}}"
        return escaped(text) if "{" in text or "}" in text else f"{{@code {text}}}"


def parts(text):
    """The pairs of a kind and a text: a "text" is a paragraph, an "item" one of a list, and "code" stays as it is."""
    found = []
    for paragraph in re.split(r"\n\n+", text.strip("\n")):
        kind = None
        for line in paragraph.split("\n"):
            is_item = line.strip().startswith("- ") and (kind or "item") == "item" or line.startswith("- ")
            if is_item:
                kind = "item"
                found.append((kind, line.strip()[2:]))
            elif kind is None or (kind == "text" and line.startswith("    ")):
                kind = "code" if line.startswith("    ") else "text"
                found.append((kind, line))
            else:
                found[-1] = (kind, found[-1][1] + "\n" + line)
    return [item for item in found if item[1].strip()]


def escaped(text):
    return "".join(ESCAPES.get(character, character) for character in text).replace("*/", "*&#47;")


def wrapped(text):
    # A tag is one word, because a line break in it would be part of its text.
    text = re.sub(r"\{@\w+ [^}]*\}", lambda found: re.sub(r"\s+", "\0", found[0]), text)
    lines = textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]
