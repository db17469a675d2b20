import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * As much JSON as the client needs: Map, List, String, Boolean, null, Long for whole numbers and Double for others. Use your
 * project's own library in its place if it has one.
 */
public final class Json {
    private static final int MAX_DEPTH = 64;

    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    /** Throws IllegalArgumentException unless the text is JSON. */
    public static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.skipSpace();
        if (json.at != text.length()) throw json.wrong();
        return value;
    }

    @SuppressWarnings("unchecked")
    public static Map<String, Object> readObject(String text) {
        if (read(text) instanceof Map<?, ?> map) return (Map<String, Object>) map;
        throw new IllegalArgumentException("JSON, but not an object");
    }

    public static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value == null || value instanceof Boolean || value instanceof Integer || value instanceof Long) {
            out.append(value);
        } else if (value instanceof CharSequence chars) {
            writeString(chars, out);
        } else if (value instanceof Map<?, ?> map) {
            String before = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                writeString(String.valueOf(entry.getKey()), out.append(before));
                write(entry.getValue(), out.append(':'));
                before = ",";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            String before = "[";
            for (Object one : list) {
                write(one, out.append(before));
                before = ",";
            }
            out.append(list.isEmpty() ? "[]" : "]");
        } else {
            throw new IllegalArgumentException("not for JSON: " + value.getClass());
        }
    }

    private static void writeString(CharSequence chars, StringBuilder out) {
        out.append('"');
        for (int index = 0; index < chars.length(); index++) {
            char one = chars.charAt(index);
            if (one == '"' || one == '\\') out.append('\\').append(one);
            else if (one < ' ') out.append(String.format("\\u%04x", (int) one));
            else out.append(one);
        }
        out.append('"');
    }

    private Object value() {
        skipSpace();
        return switch (peek()) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object() {
        Map<String, Object> map = new LinkedHashMap<>();
        enter();
        if (!skip('}')) {
            do {
                skipSpace();
                String name = string();
                require(':');
                map.put(name, value());
            } while (skip(','));
            require('}');
        }
        depth--;
        return map;
    }

    private List<Object> array() {
        List<Object> list = new ArrayList<>();
        enter();
        if (!skip(']')) {
            do {
                list.add(value());
            } while (skip(','));
            require(']');
        }
        depth--;
        return list;
    }

    private void enter() {
        at++;
        if (++depth > MAX_DEPTH) throw wrong();
    }

    private String string() {
        if (peek() != '"') throw wrong();
        at++;
        StringBuilder out = new StringBuilder();
        for (;;) {
            char one = peek();
            if (one < ' ') throw wrong();
            at++;
            if (one == '"') return out.toString();
            out.append(one == '\\' ? escaped() : one);
        }
    }

    private char escaped() {
        char one = peek();
        at++;
        return switch (one) {
            case '"', '\\', '/' -> one;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unicode();
            default -> throw wrong();
        };
    }

    private char unicode() {
        int code = 0;
        for (int digits = 0; digits < 4; digits++) {
            int digit = Character.digit(peek(), 16);
            if (digit < 0) throw wrong();
            code = code * 16 + digit;
            at++;
        }
        return (char) code;
    }

    private Object number() {
        int from = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
        String number = text.substring(from, at);
        if (!number.matches("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?")) throw wrong();
        return number.matches("-?\\d{1,18}") ? (Object) Long.valueOf(number) : (Object) Double.valueOf(number);
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) throw wrong();
        at += word.length();
        return value;
    }

    private char peek() {
        if (at >= text.length()) throw wrong();
        return text.charAt(at);
    }

    private boolean skip(char wanted) {
        skipSpace();
        if (peek() != wanted) return false;
        at++;
        return true;
    }

    private void require(char wanted) {
        if (!skip(wanted)) throw wrong();
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("not JSON at character " + at);
    }
}
