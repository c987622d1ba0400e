from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import cross_building
from conan.tools.files import copy, get, rm, rmdir

required_conan_version = ">=2.0"


class NetlibConan(ConanFile):
    name = "netlib"
    version = "0.1.0"
    description = "Parts of an HTTP client that are difficult to write correctly"
    license = "MIT OR Apache-2.0"
    homepage = "https://netlib.invalid"
    topics = ("http", "tls", "url", "retry")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    def configure(self):
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def package_id(self):
        # The build has one set of compiler flags for all build types.
        self.info.settings.rm_safe("build_type")

    def validate(self):
        if self.settings.os != "Linux" or cross_building(self):
            raise ConanInvalidConfiguration("this recipe builds netlib only on Linux, for the machine of the build")

    def source(self):
        get(
            self,
            "https://netlib.invalid/netlib-0.1.0.tar.gz",
            sha256="0000000000000000000000000000000000000000000000000000000000000000",
            strip_root=True,
        )

    def build(self):
        # Needs cargo 1.88 or newer in PATH. cargo uses no network, because the source archive contains all crates.
        self.run("CARGO_NET_OFFLINE=true make")

    def package(self):
        self.run(f"make install-strip PREFIX='{self.package_folder}'")
        licenses = f"{self.package_folder}/licenses"
        copy(self, "LICENSE-*", self.source_folder, licenses)
        copy(self, "THIRD-PARTY-NOTICES", f"{self.build_folder}/target/netlib", licenses)
        if self.options.shared:
            rm(self, "libnetlib.a", f"{self.package_folder}/lib")
        else:
            rm(self, "libnetlib.so*", f"{self.package_folder}/lib")
        # Conan's generators write these files.
        rmdir(self, f"{self.package_folder}/lib/cmake")
        rmdir(self, f"{self.package_folder}/lib/pkgconfig")

    def package_info(self):
        self.cpp_info.libs = ["netlib"]
        self.cpp_info.set_property("cmake_file_name", "netlib")
        self.cpp_info.set_property("cmake_target_name", "netlib::netlib")
        self.cpp_info.set_property("pkg_config_name", "netlib")
        if not self.options.shared:
            self.cpp_info.system_libs = ["pthread", "m", "dl"]
