import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Proves Perennial.java against the known answers. */
public final class Vectors {
    private static final List<String> WRONG = new ArrayList<>();

    private interface Encrypter {
        String encrypt(String aesKey, String text, byte[] iv);
    }

    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args.length > 0 ? args[0] : "packages/wire/vectors");
        requests(read(folder, "request-signature"));
        events(read(folder, "webhook-signature"));
        fields(read(folder, "encrypted-fields"), Perennial::encryptV1);
        fields(read(folder, "encrypted-fields-v2"), Perennial::encrypt);
        links(read(folder, "redeem-link"));
        if (!WRONG.isEmpty()) {
            System.err.println("vectors: wrong: " + String.join("; ", WRONG));
            System.exit(1);
        }
    }

    private static Map<String, Object> read(Path folder, String name) throws IOException {
        Map<String, Object> of = Json.readObject(Files.readString(folder.resolve(name + ".json")));
        int cases = 0;
        for (String list : List.of("cases", "good", "bad")) cases += Perennial.objects(of.get(list)).size();
        System.out.printf("%-20s %d cases%n", name, cases);
        return of;
    }

    private static void requests(Map<String, Object> of) {
        for (Map<String, Object> one : Perennial.objects(of.get("cases"))) {
            String made = Perennial.sign(text(of, "appSecret"), text(one, "path"), text(one, "query"), bytes(one, "bodyHex"),
                    text(one, "timestamp"), text(one, "nonce"), text(one, "requestId"));
            check(text(one, "name"), made.equals(text(one, "signature")));
        }
    }

    private static void events(Map<String, Object> of) {
        String secret = text(of, "callbackSecret");
        for (Map<String, Object> one : Perennial.objects(of.get("cases"))) {
            String name = text(one, "name");
            String path = text(one, "path");
            byte[] body = bytes(one, "bodyHex");
            long sent = Long.parseLong(text(one, "timestamp"));
            Map<String, String> headers = Map.of(
                    "X-SVC-Timestamp", text(one, "timestamp"),
                    "X-SVC-Nonce", text(one, "nonce"),
                    "X-SVC-Event-Id", text(one, "eventId"),
                    "X-SVC-Signature", text(one, "signature"));
            Function<String, String> header = headers::get;
            byte[] another = Arrays.copyOf(body, body.length + 1);
            check(name, Perennial.verify(secret, path, header, body, sent + 300_000));
            check(name + ": too old", !Perennial.verify(secret, path, header, body, sent + 300_001));
            check(name + ": another body", !Perennial.verify(secret, path, header, another, sent));
            check(name + ": another path", !Perennial.verify(secret, path + "x", header, body, sent));
            check(name + ": no signature", !Perennial.verify(secret, path, none -> null, body, sent));
        }
    }

    private static void fields(Map<String, Object> of, Encrypter encrypter) {
        String aesKey = text(of, "aesKey");
        for (Map<String, Object> one : Perennial.objects(of.get("good"))) {
            String value = text(one, "value");
            String made = encrypter.encrypt(aesKey, text(one, "text"), bytes(one, "ivHex"));
            check(text(one, "name"), made.equals(value));
            check(text(one, "name") + ": decrypted", Perennial.decrypt(aesKey, value).equals(text(one, "text")));
        }
        for (Map<String, Object> one : Perennial.objects(of.get("bad"))) {
            check(text(one, "name") + " must be refused", isRefused(aesKey, text(one, "value")));
        }
    }

    private static boolean isRefused(String aesKey, String value) {
        try {
            Perennial.decrypt(aesKey, value);
            return false;
        } catch (IllegalArgumentException refused) {
            return true;
        }
    }

    private static void links(Map<String, Object> of) {
        for (Map<String, Object> one : Perennial.objects(of.get("cases"))) {
            String made = Perennial.redeemLink(text(of, "callbackSecret"), text(one, "host"), text(one, "orderNo"),
                    text(one, "appId"), text(one, "channelUserId"), (Long) one.get("exp"));
            check(text(one, "name"), made.equals(text(one, "url")));
        }
    }

    private static void check(String name, boolean holds) {
        if (!holds) WRONG.add(name);
    }

    private static String text(Map<String, Object> of, String name) {
        return (String) of.get(name);
    }

    private static byte[] bytes(Map<String, Object> of, String name) {
        return HexFormat.of().parseHex(text(of, name));
    }
}
