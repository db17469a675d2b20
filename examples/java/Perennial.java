import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * A channel's client for Perennial. Copy this file and Json.java into your project; they need JDK 17 and nothing else.
 * Threads may share a channel.
 *
 * <pre>
 * Perennial channel = Perennial.read(Path.of("data/demo-channel.json"));
 * channel.call("orders/create", Map.of("mobileEncrypted", channel.encrypt("13800000001"), ...));
 * </pre>
 */
public final class Perennial {
    private static final String PREFIX = "/openapi/v1/";
    /** Seconds before each retry. */
    private static final int[] WAITS = {1, 3, 9};
    private static final List<String> TOKEN_ENDED = List.of("401005", "401006");
    private static final long MAX_EVENT_AGE_MS = 300_000;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();
    private final String baseUrl;
    private final String appId;
    private final String appSecret;
    private final String aesKey;
    private final String callbackSecret;
    private String token = "";
    private long tokenEndsNs;

    /** A refusal with its code. NO_ANSWER: the last attempt got no answer that can be read. */
    public static final class Refusal extends RuntimeException {
        private static final long serialVersionUID = 1;
        public final String endpoint;
        public final String code;
        public final String requestId;

        Refusal(String endpoint, String code, String message, String requestId) {
            super(endpoint + " was refused: " + code + " " + message + " (request " + requestId + ")");
            this.endpoint = endpoint;
            this.code = code;
            this.requestId = requestId;
        }
    }

    public Perennial(String baseUrl, String appId, String appSecret, String aesKey, String callbackSecret) {
        this.baseUrl = baseUrl;
        this.appId = appId;
        this.appSecret = appSecret;
        this.aesKey = aesKey;
        this.callbackSecret = callbackSecret;
    }

    /** Returns the file that {@code npm start} writes to {@code DATA_DIR}. */
    public static Path defaultFile() {
        return Path.of(System.getenv().getOrDefault("DATA_DIR", "data"), "demo-channel.json");
    }

    /** Reads the channel from a file as {@code npm start} writes it. */
    public static Perennial read(Path file) {
        try {
            Map<String, Object> of = Json.readObject(Files.readString(file));
            return new Perennial((String) of.get("baseUrl"), (String) of.get("appId"), (String) of.get("appSecret"),
                    (String) of.get("aesKey"), (String) of.get("callbackSecret"));
        } catch (IOException | IllegalArgumentException reason) {
            throw new IllegalArgumentException(
                    file + " cannot be read: npm start writes it; set DATA_DIR, or name the file", reason);
        }
    }

    /** Sends one request and returns the {@code data} of its answer. */
    public Map<String, Object> call(String endpoint, Map<String, ?> content) {
        return call(endpoint, content, UUID.randomUUID().toString());
    }

    /** Sends a write that may be retried later: with the same key it is executed once. */
    public Map<String, Object> call(String endpoint, Map<String, ?> content, String idempotencyKey) {
        String current = currentToken("");
        try {
            return send(endpoint, content, idempotencyKey, current);
        } catch (Refusal refusal) {
            if (!TOKEN_ENDED.contains(refusal.code)) throw refusal;
        }
        return send(endpoint, content, idempotencyKey, currentToken(current));
    }

    /** Returns the value of a field whose name ends in Encrypted, in svc_aes_v2. */
    public String encrypt(String text) {
        return encrypt(aesKey, text, random(12));
    }

    /** Decrypts a value of either version. */
    public String decrypt(String value) {
        return decrypt(aesKey, value);
    }

    /** Returns whether an event is authentic and was sent within 5 minutes. The body is the raw bytes. */
    public boolean verify(String path, Function<String, String> header, byte[] body) {
        return verify(callbackSecret, path, header, body, System.currentTimeMillis());
    }

    /** Returns a token. Renews it a minute before it expires, or if the service reports its end. */
    private synchronized String currentToken(String ended) {
        if (token.equals(ended) || System.nanoTime() - tokenEndsNs > 0) {
            Map<String, String> asked = Map.of("grantType", "client_credentials", "appId", appId);
            Map<String, Object> data = send("auth/token", asked, UUID.randomUUID().toString(), null);
            token = (String) data.get("accessToken");
            long seconds = Long.parseLong((String) data.get("expiresIn")) - 60;
            tokenEndsNs = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
        }
        return token;
    }

    private record Answer(int status, String retryAfter, Map<String, Object> envelope, String failure) {
        boolean isToBeTriedAgain() {
            return status == 0 || status == 429 || status >= 500;
        }
    }

    /** Retries with the same body and key, and signs each attempt again. */
    private Map<String, Object> send(String endpoint, Map<String, ?> content, String key, String token) {
        byte[] body = Json.write(content).getBytes(StandardCharsets.UTF_8);
        for (int tries = 0;; tries++) {
            String requestId = UUID.randomUUID().toString();
            Answer answer = post(endpoint, body, key, token, requestId);
            if (answer.isToBeTriedAgain() && tries < WAITS.length) {
                boolean isTold = answer.status == 429 && answer.retryAfter.matches("\\d{1,6}");
                sleep(isTold ? Integer.parseInt(answer.retryAfter) : WAITS[tries]);
                continue;
            }
            if (answer.envelope == null) throw new Refusal(endpoint, "NO_ANSWER", answer.failure, requestId);
            if (!answer.envelope.get("code").equals("0")) throw toRefusal(endpoint, answer.envelope);
            return object(answer.envelope.get("data"));
        }
    }

    /** Makes one attempt. Status 0 is a broken connection or a timeout. */
    private Answer post(String endpoint, byte[] body, String key, String token, String requestId) {
        String timestamp = String.valueOf(System.currentTimeMillis());
        String nonce = HexFormat.of().formatHex(random(16));
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(baseUrl + PREFIX + endpoint))
                .timeout(Duration.ofSeconds(20))
                .header("Content-Type", "application/json;charset=UTF-8")
                .header("X-SVC-App-Id", appId)
                .header("X-SVC-Timestamp", timestamp)
                .header("X-SVC-Nonce", nonce)
                .header("X-SVC-Request-Id", requestId)
                .header("X-SVC-Signature", sign(appSecret, PREFIX + endpoint, "", body, timestamp, nonce, requestId))
                .header("Idempotency-Key", key) // reads ignore it
                .POST(HttpRequest.BodyPublishers.ofByteArray(body));
        if (token != null) request.header("Authorization", "Bearer " + token);
        try {
            HttpResponse<String> response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            return toAnswer(response.statusCode(), response.headers().firstValue("Retry-After").orElse(""), response.body());
        } catch (IOException failure) {
            return new Answer(0, "", null, String.valueOf(failure.getMessage()));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stopped);
        }
    }

    private static Answer toAnswer(int status, String retryAfter, String text) {
        try {
            Map<String, Object> envelope = Json.readObject(text);
            if (envelope.get("code") instanceof String) return new Answer(status, retryAfter, envelope, null);
        } catch (IllegalArgumentException notJson) {
            if (status < 300) return new Answer(0, "", null, "the answer was cut off");
        }
        return new Answer(status, retryAfter, null, "HTTP " + status);
    }

    private static Refusal toRefusal(String endpoint, Map<String, Object> envelope) {
        return new Refusal(endpoint, (String) envelope.get("code"), (String) envelope.get("message"),
                (String) envelope.get("requestId"));
    }

    /** Returns an object of an answer, or an empty one. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> object(Object value) {
        return value instanceof Map<?, ?> map ? (Map<String, Object>) map : Map.of();
    }

    /** Returns the objects of a list in an answer. */
    public static List<Map<String, Object>> objects(Object value) {
        return value instanceof List<?> list ? list.stream().map(Perennial::object).toList() : List.of();
    }

    /** Returns the signature of a request, or of an event, whose id is then the last line. The digest covers the bytes sent. */
    public static String sign(
            String secret, String path, String query, byte[] body, String timestamp, String nonce, String requestId) {
        String text = String.join("\n", "POST", path, query, sha256(body), timestamp, nonce, requestId);
        return Base64.getEncoder().encodeToString(mac(secret, text));
    }

    public static boolean verify(
            String callbackSecret, String path, Function<String, String> header, byte[] body, long nowMs) {
        Function<String, String> given = name -> header.apply(name) == null ? "" : header.apply(name);
        String timestamp = given.apply("X-SVC-Timestamp");
        String expected = sign(
                callbackSecret, path, "", body, timestamp, given.apply("X-SVC-Nonce"), given.apply("X-SVC-Event-Id"));
        return MessageDigest.isEqual(utf8(given.apply("X-SVC-Signature")), utf8(expected))
                && timestamp.matches("\\d{1,18}")
                && Math.abs(nowMs - Long.parseLong(timestamp)) <= MAX_EVENT_AGE_MS;
    }

    /** Returns a link to the redemption page, as the service creates it. {@code exp} is in Unix seconds. */
    public static String redeemLink(
            String callbackSecret, String host, String orderNo, String appId, String channelUserId, long exp) {
        String text = String.join(
                "\n", "GET", "/redeem", "", sha256(new byte[0]), String.valueOf(exp), appId, channelUserId, orderNo);
        String sig = Base64.getUrlEncoder().withoutPadding().encodeToString(mac(callbackSecret, text));
        return host + "/redeem?orderNo=" + escape(orderNo) + "&appId=" + escape(appId) + "&channelUserId="
                + escape(channelUserId) + "&exp=" + exp + "&sig=" + sig;
    }

    /** Escapes everything but letters, digits and -_.~, because chats and mails cut links at brackets and quotes. */
    private static String escape(String text) {
        StringBuilder escaped = new StringBuilder();
        for (byte one : utf8(text)) {
            boolean isPlain = one > 0 && (Character.isLetterOrDigit(one) || "-_.~".indexOf(one) >= 0);
            escaped.append(isPlain ? String.valueOf((char) one) : String.format("%%%02X", one));
        }
        return escaped.toString();
    }

    // region Encrypted fields
    /** Encrypts in svc_aes_v2. Never use an IV twice. */
    public static String encrypt(String aesKey, String text, byte[] iv) {
        try {
            return "svc_aes_v2:" + join(iv, gcm(Cipher.ENCRYPT_MODE, aesKey, iv).doFinal(utf8(text)));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Encrypts in svc_aes_v1, which does not detect tampering: prefer v2. */
    public static String encryptV1(String aesKey, String text, byte[] iv) {
        try {
            return "svc_aes_v1:" + join(iv, cbc(Cipher.ENCRYPT_MODE, aesKey, iv).doFinal(utf8(text)));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Decrypts either version. One exception for all: telling wrong padding from wrong text would let a client decrypt v1. */
    public static String decrypt(String aesKey, String value) {
        try {
            if (value.startsWith("svc_aes_v2:")) {
                byte[] bare = fromBase64(value.substring(11), 12 + 16);
                return text(gcm(Cipher.DECRYPT_MODE, aesKey, Arrays.copyOf(bare, 12)).doFinal(bare, 12, bare.length - 12));
            }
            if (value.startsWith("svc_aes_v1:")) {
                byte[] bare = fromBase64(value.substring(11), 16 + 16);
                return text(cbc(Cipher.DECRYPT_MODE, aesKey, Arrays.copyOf(bare, 16)).doFinal(bare, 16, bare.length - 16));
            }
        } catch (GeneralSecurityException | CharacterCodingException | IllegalArgumentException anyReason) {
            // Not reported.
        }
        throw new IllegalArgumentException("the value cannot be decrypted");
    }

    private static Cipher gcm(int mode, String aesKey, byte[] iv) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, new SecretKeySpec(mac(aesKey, "svc_aes_v2"), "AES"), new GCMParameterSpec(128, iv));
        return cipher;
    }

    private static Cipher cbc(int mode, String aesKey, byte[] iv) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/CBC/PKCS5Padding");
        cipher.init(mode, new SecretKeySpec(Base64.getDecoder().decode(aesKey), "AES"), new IvParameterSpec(iv));
        return cipher;
    }

    /** Accepts only canonical standard base64. */
    private static byte[] fromBase64(String text, int atLeast) {
        byte[] bare = Base64.getDecoder().decode(text);
        if (bare.length < atLeast || !Base64.getEncoder().encodeToString(bare).equals(text)) {
            throw new IllegalArgumentException();
        }
        return bare;
    }

    private static String text(byte[] bytes) throws CharacterCodingException {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    }

    private static String join(byte[] iv, byte[] sealed) {
        byte[] all = Arrays.copyOf(iv, iv.length + sealed.length);
        System.arraycopy(sealed, 0, all, iv.length, sealed.length);
        return Base64.getEncoder().encodeToString(all);
    }

    private static byte[] mac(String secret, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret), "HmacSHA256"));
            return mac.doFinal(utf8(text));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    // endregion

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static byte[] random(int size) {
        byte[] made = new byte[size];
        RANDOM.nextBytes(made);
        return made;
    }

    private static void sleep(int seconds) {
        try {
            Thread.sleep(seconds * 1000L);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stopped);
        }
    }
}
