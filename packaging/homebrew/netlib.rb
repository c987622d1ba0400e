# For Homebrew on Linux. Not tested: no check runs Homebrew.
class Netlib < Formula
  desc "Parts of an HTTP client that are difficult to write correctly"
  homepage "https://netlib.invalid"
  url "https://netlib.invalid/netlib-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build
  depends_on :linux

  def install
    # cargo uses no network, because the source archive contains all crates.
    ENV["CARGO_NET_OFFLINE"] = "true"
    system "make"
    system "make", "install-strip", "PREFIX=#{prefix}", "DOCDIR=#{doc}", "MANDIR=#{man}"
  end

  test do
    (testpath/"test.c").write <<~C
      #include <netlib.h>
      int main(void) { return netlib_version_number() != NETLIB_VERSION_NUMBER; }
    C
    system ENV.cc, "test.c", "-I#{include}", "-L#{lib}", "-lnetlib", "-o", "test"
    system "./test"
  end
end
