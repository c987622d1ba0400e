"""Makes the Java classes of the enums."""

from java_names import MEMBERS, class_name, member_names
from native import HEAD

# Words of a comment about the bits in C. In Java, several values are a Set.
IN_C = {", as bits,": "", ", as bits.": ".", ", so test a class with & and not with ==": ""}


def comment_of(enum):
    text = enum["doc"]
    for words, replacement in IN_C.items():
        text = text.replace(words, replacement)
    return text


def enum_class(api, doc, enum):
    java = class_name(enum["name"])
    comments = {value["name"]: value["doc"] for value in enum["values"]}
    values = [(member, comments[c_name], api.constants[c_name]) for c_name, member in member_names(enum).items()]
    macros = {item["name"]: item for item in api.data["macros"]}
    values += [
        (member, macros[c_name]["doc"], macros[c_name]["value"])
        for c_name, (owner, member) in MEMBERS.items()
        if owner == enum["name"]
    ]
    constants = "\n".join(
        doc.comment(doc.words(comment), "    ")
        + f'    public static final {java} {member} = VALUES.add("{member}", {number}L);\n'
        for member, comment, number in values
    )
    return java, (
        HEAD + f"import java.util.List;\n{'import java.util.Set;' + chr(10) if enum['bits'] else ''}\n" + doc.comment(doc.words(comment_of(enum)), "")
        + f"public final class {java} extends OpenEnum {{\n"
        f"    private static final Values<{java}> VALUES = new Values<>({java}::new);\n\n{constants}\n"
        f"    private {java}(String name, long number) {{\n        super(name, number);\n    }}\n\n"
        "    /**\n     * Returns the value with a number. For a number that this version does not know, the name is the number.\n"
        "     *\n     * @param number the number\n     * @return the value\n     */\n"
        f"    public static {java} of(long number) {{\n        return VALUES.of(number);\n    }}\n\n"
        "    /**\n     * Returns the values that this version knows.\n     *\n     * @return the values\n     */\n"
        f"    public static List<{java}> values() {{\n        return VALUES.all();\n    }}\n"
        + (f"\n    static Set<{java}> setOf(long bits) {{\n        return VALUES.set(bits);\n    }}\n" if enum["bits"] else "")
        + "}\n"
    )  # fmt: skip
