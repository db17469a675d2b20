import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/** Sells a subscription in each of the three ways, queries them, and ends one. */
public final class Sell {
    public static void main(String[] args) {
        try {
            sell(Perennial.read(args.length > 0 ? Path.of(args[0]) : Perennial.defaultFile()));
        } catch (Perennial.Refusal | IllegalArgumentException reason) {
            System.err.println("sell: " + reason.getMessage());
            System.exit(1);
        }
    }

    private static void sell(Perennial channel) {
        String run = UUID.randomUUID().toString().substring(24);
        String user = "user-" + run; // a new user each time: a user's mobile never changes within a channel
        String mobile = String.format("1%010d", ThreadLocalRandom.current().nextLong(10_000_000_000L));
        Map<String, Object> card = Map.of(
                "channelUserId", user,
                "bankCardNoEncrypted", channel.encrypt("6222020000001234567"),
                "certificateNoEncrypted", channel.encrypt("110101199001011234"),
                "realNameEncrypted", channel.encrypt("\u5f20\u4e09"),
                "bankMobileEncrypted", channel.encrypt("13800000001"));

        List<Map<String, Object>> products = Perennial.objects(channel.call("products/list", Map.of()).get("items"));
        show("products", products.stream().map(one -> (String) one.get("productCode")).collect(Collectors.joining(" ")));
        Object productCode = products.get(0).get("productCode");

        // A.1: the user binds a card with the code that the bank sends, and the service debits it.
        Map<String, Object> bound = with(card, Map.of("mobileEncrypted", channel.encrypt(mobile)));
        Object bindOrderNo = channel.call("agreements/bind-sms", bound).get("bindOrderNo");
        channel.call("agreements/bind-confirm",
                Map.of("bindOrderNo", bindOrderNo, "smsCodeEncrypted", channel.encrypt("123456")));
        Map<String, Object> own = channel.call("orders/create", Map.of(
                "settlementMode", "SVC_DEDUCT",
                "externalOrderNo", "own-" + run,
                "productCode", productCode,
                "bindOrderNo", bindOrderNo));
        showOrder("A.1", own);

        // A.2: the channel shares its own agreement, and the service debits it.
        showOrder("A.2", channel.call("orders/create", Map.of(
                "settlementMode", "SVC_DEDUCT",
                "externalOrderNo", "shared-" + run,
                "productCode", productCode,
                "channelUserId", user,
                "mobileEncrypted", channel.encrypt(mobile),
                "sharedAgreement",
                with(card, Map.of("paymentChannelCode", "MOCKPAY", "sharedAgreementNo", "agreement-" + run)))));

        // B: the channel collects the money, and the service bills. The same body with the same key is the same order.
        Map<String, Object> collected = Map.of(
                "settlementMode", "CHANNEL_COLLECT",
                "externalOrderNo", "collected-" + run,
                "productCode", productCode,
                "channelUserId", user,
                "mobileEncrypted", channel.encrypt(mobile));
        String key = UUID.randomUUID().toString();
        showOrder("B", channel.call("orders/create", collected, key));
        showOrder("again", channel.call("orders/create", collected, key));

        showOrder("query", channel.call("orders/query", Map.of("externalOrderNo", "shared-" + run)));
        Map<String, Object> list = channel.call("orders/list", Map.of("channelUserId", user));
        show("list", Perennial.objects(list.get("orders")).size() + " orders");
        Object paymentOrderNo = firstPeriodOf(own).get("paymentOrderNo");
        Map<String, Object> period = channel.call("payments/query", Map.of("paymentOrderNo", paymentOrderNo));
        show("period", paymentOrderNo + " " + period.get("paymentStatus"));
        Map<String, Object> cards = channel.call("agreements/user-data", Map.of("channelUserId", user));
        String sealed = (String) Perennial.objects(cards.get("bankDataList")).get(0).get("bankCardNoEncrypted");
        show("card", "ends in " + channel.decrypt(sealed).replaceFirst(".*(?=....$)", ""));
        showOrder("ended",
                channel.call("orders/unsubscribe", Map.of("orderNo", own.get("orderNo"), "reason", "too expensive")));
    }

    private static Map<String, Object> with(Map<String, ?> some, Map<String, ?> more) {
        Map<String, Object> all = new HashMap<>(some);
        all.putAll(more);
        return all;
    }

    private static Map<String, Object> firstPeriodOf(Map<String, Object> order) {
        return Perennial.objects(order.get("paymentRecords")).get(0);
    }

    private static void showOrder(String name, Map<String, Object> order) {
        Object paid = firstPeriodOf(order).get("paymentStatus");
        show(name, order.get("orderNo") + " " + order.get("orderStatus") + ", period 1 " + paid);
    }

    private static void show(String name, String text) {
        System.out.printf("%-10s %s%n", name, text);
    }
}
