# For `nix-build -E 'with import <nixpkgs> {}; callPackage ./default.nix {}'` with rustc 1.88 or newer. Not tested: no
# check runs Nix.
{ lib, stdenv, fetchurl, cargo, rustc }:

stdenv.mkDerivation {
  pname = "netlib";
  version = "0.1.0";
  src = fetchurl {
    url = "https://netlib.invalid/netlib-0.1.0.tar.gz";
    sha256 = "0000000000000000000000000000000000000000000000000000000000000000";
  };

  nativeBuildInputs = [ cargo rustc ];

  # cargo uses no network, because the source archive contains all crates.
  CARGO_NET_OFFLINE = "true";
  preBuild = "export CARGO_HOME=$TMPDIR/cargo";
  enableParallelBuilding = true;

  installFlags = [ "PREFIX=${placeholder "out"}" ];

  meta = {
    description = "Parts of an HTTP client that are difficult to write correctly";
    homepage = "https://netlib.invalid";
    license = [ lib.licenses.mit lib.licenses.asl20 ];
    platforms = [ "x86_64-linux" "aarch64-linux" ];
  };
}
