import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;

/** Receives events, as a channel must, and prints each. */
public final class Receive {
    private static final String PATH = "/events";
    private static final int MAX_BODY = 1_048_576;

    /** In production store them for 30 days in the database, in the transaction of the event's changes. */
    private static final Set<String> DEALT_WITH = ConcurrentHashMap.newKeySet();

    public static void main(String[] args) throws IOException {
        try {
            Perennial channel = Perennial.read(args.length > 0 ? Path.of(args[0]) : Perennial.defaultFile());
            int port = args.length > 1 ? Integer.parseInt(args[1]) : 3000;
            HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
            server.createContext("/", exchange -> receive(channel, exchange));
            server.setExecutor(Executors.newFixedThreadPool(4));
            server.start();
            System.out.println("listening http://localhost:" + server.getAddress().getPort() + PATH);
        } catch (IllegalArgumentException reason) {
            System.err.println("receive: " + reason.getMessage());
            System.exit(1);
        }
    }

    private static void receive(Perennial channel, HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY + 1);
            if (!exchange.getRequestMethod().equals("POST") || !exchange.getRequestURI().toString().equals(PATH)) {
                answer(exchange, 404, "not-found");
            } else if (body.length > MAX_BODY) {
                answer(exchange, 400, "length");
            } else if (!channel.verify(PATH, exchange.getRequestHeaders()::getFirst, body)) {
                System.out.println("refused: not signed by the service, or too old");
                answer(exchange, 401, "signature");
            } else {
                deal(Json.readObject(new String(body, StandardCharsets.UTF_8)));
                answer(exchange, 200, "0"); // within 5 s: longer work is done afterwards
            }
        }
    }

    private static void deal(Map<String, Object> event) {
        Map<String, Object> data = Perennial.object(event.get("data"));
        if (!DEALT_WITH.add((String) event.get("eventId"))) {
            System.out.printf("again     %s, retryNo %s: it was dealt with%n", event.get("eventId"), event.get("retryNo"));
            return;
        }
        String type = (String) event.get("eventType");
        System.out.printf("event     %s  %s  %s  %s%n", event.get("eventId"), event.get("occurredAt"), type, tell(type, data));
    }

    /** Unknown types are acknowledged too, because later versions may add some. */
    private static String tell(String type, Map<String, Object> data) {
        String order = "order " + data.get("orderNo");
        String period = order + "  period " + data.get("cycleNo");
        return switch (type) {
            case "order.status.changed" -> order + "  " + data.get("orderStatus");
            case "payment.status.changed" -> period + " " + data.get("paymentStatus");
            // In production notify the user, with redeemUrl for unsubscribing before the debit, unless this came too
            // late.
            case "payment.upcoming" -> period + " is due " + data.get("expectPayTime");
            default -> "a type that is not known here";
        };
    }

    private static void answer(HttpExchange exchange, int status, String code) throws IOException {
        byte[] text = Json.write(Map.of("code", code)).getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, text.length);
        exchange.getResponseBody().write(text);
    }
}
