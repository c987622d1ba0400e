import java.net.URI;
import java.util.Scanner;
import java.util.stream.IntStream;
import netlib.Netlib;
import netlib.Url;

/**
 * Parses URLs, and gets five components of each, once for each line of standard input; prints the sum of the results. The
 * arguments are a URL and COUNT: the URLs have the numbers from 1 to COUNT at the end. With a third argument, java.net.URI
 * parses them.
 */
public final class Cost {
    private Cost() {}

    private static long parse(String text) {
        try (Url url = Netlib.parseUrl(text)) {
            return url.scheme().length() + url.host().length() + url.port() + url.path().length() + url.query().length();
        }
    }

    private static long parseWithOwn(String text) {
        URI url = URI.create(text);
        return url.getScheme().length() + url.getHost().length() + url.getPort() + url.getRawPath().length()
                + url.getRawQuery().length();
    }

    public static void main(String[] arguments) {
        String[] texts = IntStream.rangeClosed(1, Integer.parseInt(arguments[1])).mapToObj(i -> arguments[0] + i)
                .toArray(String[]::new);
        boolean isOwn = arguments.length > 2;
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            lines.nextLine();
            long sum = 0;
            for (String text : texts) {
                sum += isOwn ? parseWithOwn(text) : parse(text);
            }
            System.out.println(sum);
        }
    }
}
