import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import netlib.AddressClass;
import netlib.ConnectOptions;
import netlib.HeaderField;
import netlib.Headers;
import netlib.Netlib;
import netlib.NetlibException;
import netlib.OpenEnum;
import netlib.Request;
import netlib.RequestForm;
import netlib.RetryOptions;
import netlib.Status;
import netlib.StatusClass;
import netlib.Stream;
import netlib.TlsContext;
import netlib.TlsEngine;
import netlib.TlsOption;
import netlib.TlsOptions;
import netlib.TlsVersion;
import netlib.TrustKind;
import netlib.Url;
import netlib.VerifyFlag;

/** Tests null, the values of enums, the equality of URLs, and the names in messages. */
final class TypesTest {
    private TypesTest() {}

    static void run(Path certificates) {
        nulls();
        enums(certificates);
        urls();
        names(certificates);
    }

    private record Refused(String name, Callable<?> call) {}

    private static void nulls() {
        RetryOptions options = RetryOptions.make();
        Refused[] rows = {
            new Refused("url", () -> Netlib.parseUrl(null)),
            new Refused("reference", () -> Netlib.parseUrl("http://a/").resolve(null)),
            new Refused("url", () -> Stream.connect(null, null, null, null)),
            new Refused("response", () -> netlib.BodyDecoder.make(null)),
            new Refused("buf", () -> Stream.newCallbacks(buffer -> 0, bytes -> 0).read(null)),
            new Refused("readFn", () -> Stream.newCallbacks(null, bytes -> 0)),
            new Refused("form", () -> Request.make("GET", Netlib.parseUrl("http://a/"), null, null)),
            new Refused("status", () -> Netlib.statusName(null)),
            new Refused("classes", () -> ConnectOptions.make().refuseAddresses(null)),
            new Refused("codes", () -> options.statusForcelist(null)),
            new Refused("methods", () -> options.allowedMethods(null)),
            new Refused("methods[1]", () -> options.allowedMethods(new String[] {"GET", null})),
            new Refused("fields[0]", () -> Headers.make(new HeaderField[] {new HeaderField("a", null)})),
            new Refused("slices[0]", () -> Stream.newCallbacks(buffer -> 0, bytes -> 0).writev(new byte[1][])),
        };
        for (Refused row : rows) {
            Checks.check("null is refused: " + row.name(), "NullPointerException: " + row.name(), row.call());
        }
        Checks.check("a callback that returns no decision throws", "NullPointerException", () -> {
            ConnectOptions refusing = ConnectOptions.make().addressCallback((address, classes) -> null);
            try {
                return Netlib.createConnection("127.0.0.1", 9, refusing, null);
            } catch (NullPointerException missing) {
                return missing.getClass().getSimpleName();
            }
        });
    }

    private static void enums(Path certificates) {
        Checks.check("a known value is the constant", true,
                () -> Status.of(Status.MAX_RETRY.number()) == Status.MAX_RETRY);
        Checks.check("an unknown value keeps its number", "987654 987654 true false PROGRESS", () -> {
            Status unknown = Status.of(987654);
            return unknown + " " + unknown.number() + " " + unknown.equals(Status.of(987654)) + " "
                    + Status.values().contains(unknown) + " " + Netlib.statusClass(Status.WANT_READ);
        });
        Checks.check("values of two enums with one number differ", false,
                () -> ((OpenEnum) Status.of(1)).equals(StatusClass.of(1)));
        Checks.check("a sum of bits is a set", Set.of(AddressClass.METADATA, AddressClass.LINK_LOCAL),
                () -> Netlib.classifyAddressText("169.254.169.254"));
        Set<VerifyFlag> flags = Set.of(VerifyFlag.X509_STRICT, VerifyFlag.X509_TRUSTED_FIRST,
                VerifyFlag.X509_PARTIAL_CHAIN);
        Checks.check("a set is passed as a sum of bits", flags,
                () -> TlsContext.make(TlsOptions.make().addCaFile(certificates.resolve("ca.pem").toString())
                        .verifyFlags(flags)).verifyFlags());
        Checks.check("a set with a mask refuses the classes of the mask", "ADDRESS_REFUSED", () -> {
            ConnectOptions options = ConnectOptions.make().refuseAddresses(Set.of(AddressClass.ALL_BUT_GLOBAL));
            return status(() -> Netlib.createConnection("127.0.0.1", 9, options, null));
        });
        Checks.check("an unknown bit reaches netlib", "INVALID_ARGUMENT",
                () -> status(() -> ConnectOptions.make().refuseAddresses(Set.of(AddressClass.of(1 << 30)))));
        Checks.check("bits of 64 bits are passed", "passed",
                () -> status(() -> TlsOptions.make().optionBits(Set.of(TlsOption.ALL, TlsOption.NO_TICKET))));
        Checks.check("a getter returns a typed value", List.of(TlsVersion.V1_3, Set.of(TrustKind.CUSTOM)), () -> {
            TlsOptions options = TlsOptions.make().minimumVersion(TlsVersion.V1_3);
            TlsContext context = TlsContext.make(options.addCaFile(certificates.resolve("ca.pem").toString()));
            return List.of(context.minimumVersion(), context.trustKinds());
        });
    }

    private static String status(Callable<?> call) throws Exception {
        try {
            call.call();
            return "passed";
        } catch (NetlibException failed) {
            return failed.status().name();
        }
    }

    private static void urls() {
        Url url = Netlib.parseUrl("HTTP://user:secret@A.example:80/%7Eb?q#f");
        String text = "http://user:secret@a.example:80/%7Eb?q#f";
        Checks.check("URLs are equal by their texts", "true true false false", () -> {
            Url same = Netlib.parseUrl(text);
            return url.equals(same) + " " + (url.hashCode() == same.hashCode()) + " "
                    + url.equals(Netlib.parseUrl("http://a.example/")) + " " + url.equals((Object) text);
        });
        Checks.check("a URL is converted to its text", text, url::toString);
        Checks.check("a byte that is not UTF-8 is sent unchanged", "[120, 58, 32, -1, 13, 10]", () -> {
            HeaderField[] fields = {new HeaderField("x", "\udcff")};
            return java.util.Arrays.toString(Headers.make(fields).toWire());
        });
        Checks.check("an engine without a session returns null", null,
                () -> TlsEngine.newClient(TlsContext.make(TlsOptions.make()), "localhost").takeSession());
        Checks.check("the redacted URL has no password", false, () -> url.redacted().contains("secret"));
    }

    private static void names(Path certificates) {
        Checks.check("the advice for a refused certificate names the methods of Java", "TlsOptions.addCaFile true",
                () -> {
            String files = certificates.resolve("self-signed").toString();
            TlsContext server = TlsContext.make(TlsOptions.make().identityFiles(files + ".pem", files + ".key"));
            TlsContext client = TlsContext.make(TlsOptions.make().addCaFile(certificates.resolve("ca.pem").toString()));
            TlsEngine[] engines = {TlsEngine.newClient(client, "localhost"), TlsEngine.newServer(server)};
            byte[] buffer = new byte[16384];
            try {
                for (int at = 0; at < 10; at++) {
                    engines[at % 2].handshake();
                    int n = (int) engines[at % 2].drain(buffer);
                    engines[1 - at % 2].feed(java.util.Arrays.copyOf(buffer, n));
                }
            } catch (NetlibException refused) {
                boolean isClean = !(refused.getMessage() + refused.advice() + refused.report()).matches("(?s).*netlib_.*");
                return refused.advice().replaceAll(".*(TlsOptions\\.addCaFile).*", "$1") + " " + isClean;
            }
            return "accepted";
        });
        Checks.check("the message for a refused value names the types of Java",
                "RetryOptions.jitterKind: kind must be a JitterKind; it is 99",
                () -> message(() -> RetryOptions.make().jitterKind(netlib.JitterKind.of(99))));
        Checks.check("the message for a refused number names the constants of Java",
                "seconds must be 0 seconds or more, Netlib.TIMEOUT_NONE or Netlib.TIMEOUT_DEFAULT; it is -5",
                () -> message(() -> {
                    Stream.newCallbacks(buffer -> 0, bytes -> 0).setReadTimeout(-5);
                    return null;
                }));
    }

    private static String message(Callable<?> call) throws Exception {
        try {
            call.call();
            return "accepted";
        } catch (NetlibException failed) {
            return failed.getMessage();
        }
    }
}
