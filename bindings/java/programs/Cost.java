import java.util.Scanner;
import netlib.Netlib;
import netlib.Url;

/**
 * Parses a URL and gets five components, COUNT times for each line of standard input; prints the sum of the results. The
 * arguments are the URL and COUNT.
 */
public final class Cost {
    private Cost() {}

    private static long parse(String text, int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            try (Url url = Netlib.parseUrl(text)) {
                sum += url.scheme().length() + url.host().length() + url.port() + url.path().length() + url.query().length();
            }
        }
        return sum;
    }

    public static void main(String[] arguments) {
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            lines.nextLine();
            System.out.println(parse(arguments[0], Integer.parseInt(arguments[1])));
        }
    }
}
