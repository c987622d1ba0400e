"""Names the platform of the wheel: the package may contain libraries, but setuptools compiles nothing."""

import re
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

LIBRARIES = list(Path("netlib").glob("*.so*"))


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return bool(LIBRARIES)


def oldest_glibc():
    """The version of glibc that the libraries need: the newest version of a symbol that they use."""
    data = b"".join(path.read_bytes() for path in LIBRARIES)
    return max(tuple(map(int, found)) for found in re.findall(rb"GLIBC_(\d+)\.(\d+)", data))


class Wheel(bdist_wheel):
    def get_tag(self):
        if not LIBRARIES:
            return "py3", "none", "any"
        _, _, platform = super().get_tag()
        if platform.startswith("linux_"):
            platform = platform.replace("linux", "manylinux_{}_{}".format(*oldest_glibc()))
        return ("cp39", "abi3", platform) if Path("netlib/_native.abi3.so").exists() else ("py3", "none", platform)


setup(distclass=BinaryDistribution, cmdclass={"bdist_wheel": Wheel})
