# For vcpkg. Not tested: no check runs vcpkg. The build needs cargo 1.88 or newer in PATH.
vcpkg_download_distfile(
    ARCHIVE
    URLS "https://netlib.invalid/netlib-0.1.0.tar.gz"
    FILENAME "netlib-0.1.0.tar.gz"
    SHA512 00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${ARCHIVE}")

# The build writes both libraries. A debug build of an application uses the release libraries too.
set(VCPKG_BUILD_TYPE release)
# cargo uses no network, because the source archive contains all crates.
set(ENV{CARGO_HOME} "${CURRENT_BUILDTREES_DIR}/cargo")
set(ENV{CARGO_NET_OFFLINE} true)
vcpkg_execute_required_process(
    COMMAND make
    WORKING_DIRECTORY "${SOURCE_PATH}"
    LOGNAME build-${TARGET_TRIPLET}
)
vcpkg_execute_required_process(
    COMMAND make install-strip "PREFIX=${CURRENT_PACKAGES_DIR}" "DOCDIR=${CURRENT_PACKAGES_DIR}/share/netlib/doc"
    WORKING_DIRECTORY "${SOURCE_PATH}"
    LOGNAME install-${TARGET_TRIPLET}
)
if(VCPKG_LIBRARY_LINKAGE STREQUAL "static")
    file(GLOB SHARED_LIBRARIES "${CURRENT_PACKAGES_DIR}/lib/libnetlib.so*")
    file(REMOVE ${SHARED_LIBRARIES})
else()
    file(REMOVE "${CURRENT_PACKAGES_DIR}/lib/libnetlib.a")
endif()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/netlib)
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(
    FILE_LIST
    "${SOURCE_PATH}/LICENSE-MIT"
    "${SOURCE_PATH}/LICENSE-APACHE"
    "${SOURCE_PATH}/target/netlib/THIRD-PARTY-NOTICES"
)
