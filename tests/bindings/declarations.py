"""Checks that netlib.api.json has the functions, callbacks and constants of netlib.cdef.h, with the same types.

usage: declarations.py netlib.api.json netlib.cdef.h
"""

import json
import re
import sys


def compact(text):
    """Returns C code with spaces only between words."""
    return re.sub(r"\s*(\W)\s*", r"\1", " ".join(text.split()))


def declaration(item, name):
    params = ",".join(f"{param['type']} {param['name']}" for param in item["params"]) or "void"
    return compact(f"{item['returns']['type']} {name}({params})")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        description = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        code = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    described = {declaration(item, item["name"]) for item in description["functions"]}
    described |= {"typedef " + declaration(item, f"(*{item['name']})") for item in description["callbacks"]}
    declared = {compact(text) for text in re.sub(r"{.*?}", "", code, flags=re.DOTALL).split(";")}
    declared = {text for text in declared if "(" in text}
    for text in described ^ declared:
        print("only in one of the files:", text)
    values = {value["name"]: value["value"] for item in description["enums"] for value in item["values"]}
    numbers = dict(re.findall(r"^    (NETLIB_\w+) = ([^,\n]+)", code, flags=re.MULTILINE))
    for name in values.keys() ^ numbers.keys():
        print("only in one of the files:", name)
    for name in values.keys() & numbers.keys():
        first, _, second = numbers[name].partition(" - ")
        if values[name] != int(first) - int(second or 0):
            print("two values:", name)
    print(len(description["functions"]), "functions,", len(values), "constants")


main()
