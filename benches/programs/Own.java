import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Prints the body of a URL with java.net.http. */
final class Own {
    public static void main(String[] arguments) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[0])).build();
        try (var body = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofInputStream()).body()) {
            body.transferTo(System.out);
        }
    }
}
