#!/usr/bin/env python3
"""Works out the known answers in this folder, with nothing of the code that they test.

HMAC, SHA-256, base64 and dates come from Python's standard library, AES from the openssl command line. That has no GCM,
so it is worked out here from single blocks, and checked against the paper that describes it. Keys and IVs are fixed, so a second run writes the same bytes. The keys are for tests only and belong to nobody.

    python3 packages/wire/vectors/make.py
"""

import base64
import hashlib
import hmac
import json
import subprocess
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import quote

HERE = Path(__file__).parent
APP_SECRET = bytes(range(0x00, 0x20))
CALLBACK_SECRET = bytes(range(0x40, 0x60))
AES_KEY = bytes(range(0x80, 0xA0))
PREFIX = "svc_aes_v1:"
# The interface fixes the offset. The zone Asia/Shanghai had summer time until 1991 and would differ there.
UTC8 = timezone(timedelta(hours=8))
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def b64(data):
    return base64.b64encode(data).decode()


def b64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def write(name, content):
    # Short lists of plain values are avoided throughout: this layout is then also the formatter's.
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    (HERE / name).write_text(text, encoding="utf-8")


# Request and webhook signatures


def request_case(name, path, body, query="", timestamp="1767225600000", nonce="00112233445566778899aabbccddeeff",
                 request_id="6f1c1e0e-5d0b-4a53-9f7e-2f8d9f0f7a11"):
    digest = hashlib.sha256(body).hexdigest()
    text = "\n".join(["POST", path, query, digest, timestamp, nonce, request_id])
    return {
        "name": name,
        "path": path,
        "query": query,
        "bodyHex": body.hex(),
        "bodySha256": digest,
        "timestamp": timestamp,
        "nonce": nonce,
        "requestId": request_id,
        "signText": text,
        "signature": b64(mac(APP_SECRET, text)),
    }


def webhook_case(name, path, body, timestamp="1767225600000", nonce="ffeeddccbbaa99887766554433221100",
                 event_id="evt_900000000000000001"):
    digest = hashlib.sha256(body).hexdigest()
    text = "\n".join(["POST", path, "", digest, timestamp, nonce, event_id])
    return {
        "name": name,
        "path": path,
        "bodyHex": body.hex(),
        "bodySha256": digest,
        "timestamp": timestamp,
        "nonce": nonce,
        "eventId": event_id,
        "signText": text,
        "signature": b64(mac(CALLBACK_SECRET, text)),
    }


def signatures():
    write("request-signature.json", {
        "appSecret": b64(APP_SECRET),
        "cases": [
            request_case("a token request", "/openapi/v1/auth/token",
                         b'{"grantType":"client_credentials","appId":"test_demo"}'),
            request_case("an empty object", "/openapi/v1/products/list", b"{}"),
            request_case("an empty body", "/openapi/v1/products/list", b""),
            request_case("a query, signed as it was sent", "/openapi/v1/orders/query", b"{}",
                         query="b=2&a=%E4%BD%A0&a=+&empty="),
            request_case("a body beyond ASCII", "/openapi/v1/orders/unsubscribe",
                         '{"orderNo":"1","reason":"不再需要 – è"}'.encode()),
            request_case("a body beyond the basic plane", "/openapi/v1/orders/unsubscribe",
                         '{"orderNo":"1","reason":"🎈𠮷"}'.encode()),
            request_case("a body of 1 KiB that is not UTF-8", "/openapi/v1/orders/query", bytes(range(256)) * 4),
            request_case("the body beyond ASCII in another spelling",
                         "/openapi/v1/orders/unsubscribe",
                         b'{ "reason": "\\u4e0d\\u518d\\u9700\\u8981 \\u2013 \\u00e8",\r\n\t"orderNo": "\\u0031" }'),
            request_case("another nonce", "/openapi/v1/products/list", b"{}",
                         nonce="00112233445566778899AABBCCDDEEFF"),
            request_case("another timestamp", "/openapi/v1/products/list", b"{}", timestamp="1767225600001"),
            request_case("a request id of one character", "/openapi/v1/products/list", b"{}", request_id="~"),
        ],
    })
    write("webhook-signature.json", {
        "callbackSecret": b64(CALLBACK_SECRET),
        "cases": [
            webhook_case("an order event", "/callback",
                         b'{"eventId":"evt_900000000000000001","eventType":"order.status.changed","retryNo":0}'),
            webhook_case("a path of only a slash", "/", b"{}"),
            webhook_case("a path that is percent-encoded", "/hooks/%E4%BD%A0/x", b"{}"),
            webhook_case("an empty body", "/callback", b""),
            webhook_case("a body beyond ASCII", "/callback", '{"externalOrderNo":"订单-🎈"}'.encode()),
            webhook_case("a retry, with its own timestamp and nonce", "/callback", b'{"retryNo":1}',
                         timestamp="1767225630000", nonce="0123456789abcdef0123456789abcdef"),
        ],
    })


# Redeem links


def redeem_case(name, order_no, app_id, user, exp, host="https://h5.example.test"):
    text = "\n".join(["GET", "/redeem", "", hashlib.sha256(b"").hexdigest(), str(exp), app_id, user, order_no])
    sig = b64url(mac(CALLBACK_SECRET, text))
    pairs = [("orderNo", order_no), ("appId", app_id), ("channelUserId", user), ("exp", str(exp)), ("sig", sig)]
    url = host + "/redeem?" + "&".join(f"{key}={quote(value, safe='')}" for key, value in pairs)
    return {
        "name": name,
        "host": host,
        "orderNo": order_no,
        "appId": app_id,
        "channelUserId": user,
        "exp": exp,
        "signText": text,
        "sig": sig,
        "url": url,
    }


def redeem_links():
    write("redeem-link.json", {
        "callbackSecret": b64(CALLBACK_SECRET),
        "cases": [
            redeem_case("a plain link", "700000000000001", "test_demo", "user-1", 1767830400),
            redeem_case("a host with a port", "700000000000001", "test_demo", "user-1", 1767830400,
                        host="http://127.0.0.1:8080"),
            redeem_case("characters that a query needs escaped", "700000000000002", "test_demo", "a&b=c?d#e%f+g h/i",
                        1767830400),
            redeem_case("characters that a chat would cut a link at", "700000000000002", "test_demo", "o'(x)*!~-_.",
                        1767830400),
            redeem_case("a user id beyond ASCII", "700000000000003", "test_demo", "用户🎈", 4102444800),
            redeem_case("another expiry", "700000000000001", "test_demo", "user-1", 1767830401),
        ],
    })


# Encrypted fields


def aes(data, iv, *flags):
    command = ["openssl", "enc", "-aes-256-cbc", "-K", AES_KEY.hex(), "-iv", iv.hex(), *flags]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def iv_of(number):
    return bytes((number * 17 + index) % 256 for index in range(16))


def good_field(number, name, text):
    iv = iv_of(number)
    return {"name": name, "text": text, "ivHex": iv.hex(), "value": PREFIX + b64(iv + aes(text.encode(), iv))}


def encrypted_fields():
    iv = iv_of(99)
    whole = PREFIX + b64(iv + aes(b"13800000001", iv))

    def unpadded(plain):
        return PREFIX + b64(iv + aes(plain, iv, "-nopad"))

    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    # 32 bytes end in a single "="; the letter before it has bits to spare, which a lax decoder ignores.
    body = whole[len(PREFIX):]
    stray = body[:-2] + alphabet[alphabet.index(body[-2]) + 1] + "="
    assert base64.b64decode(stray) == base64.b64decode(body)
    slashed = next(
        body2 for number in range(1000)
        for body2 in [b64(iv_of(number) + aes(b"13800000001", iv_of(number)))] if "/" in body2 or "+" in body2
    )

    bad = [
        ("empty", "no prefix", ""),
        ("plain text", "no prefix", "13800000001"),
        ("unknown prefix", "prefix of no version", "svc_aes_v3:" + body),
        ("prefix in capitals", "prefix is case sensitive", "SVC_AES_V1:" + body),
        ("space before the prefix", "prefix does not begin the value", " " + whole),
        ("prefix alone", "no bytes at all", PREFIX),
        ("not base64", "characters outside the alphabet", PREFIX + "!" * 44),
        ("a line break inside", "base64 with white space", PREFIX + body[:20] + "\n" + body[20:]),
        ("a space at the end", "base64 with white space", whole + " "),
        ("padding left out", "base64 without its padding", whole.rstrip("=")),
        ("padding in excess", "base64 with too much padding", whole + "="),
        ("a stray bit", "base64 that is not canonical", PREFIX + stray),
        ("URL alphabet", "base64url where base64 is due",
         PREFIX + slashed.replace("+", "-").replace("/", "_")),
        ("IV alone", "no block of text", PREFIX + b64(iv)),
        ("shorter than an IV", "no whole IV", PREFIX + b64(iv[:15])),
        ("33 bytes", "not a whole number of blocks", PREFIX + b64(iv + bytes(17))),
        ("31 bytes", "not a whole number of blocks", PREFIX + b64(iv + bytes(15))),
        ("padding of zero", "padding byte 0", unpadded(b"0123456789abcde" + b"\x00")),
        ("padding of seventeen", "padding byte over the block size", unpadded(b"0123456789abcde" + b"\x11")),
        ("uneven padding", "padding bytes that differ", unpadded(b"0123456789abc" + b"\x03\x02\x03")),
        ("last block cut off", "padding is gone", PREFIX + b64(iv + aes(b"0123456789abcdef", iv)[:16])),
        ("a lone continuation byte", "text is not UTF-8", PREFIX + b64(iv + aes(b"abc\x80", iv))),
        ("a cut character", "text is not UTF-8", PREFIX + b64(iv + aes("你".encode()[:2], iv))),
        ("an overlong slash", "text is not UTF-8", PREFIX + b64(iv + aes(b"\xc0\xaf", iv))),
        ("an encoded surrogate", "text is not UTF-8", PREFIX + b64(iv + aes(b"\xed\xa0\x80", iv))),
    ]
    write("encrypted-fields.json", {
        "aesKey": b64(AES_KEY),
        "good": [
            good_field(1, "a mobile number", "13800000001"),
            good_field(2, "the empty text", ""),
            good_field(3, "one byte short of a block", "0123456789abcde"),
            good_field(4, "exactly a block", "0123456789abcdef"),
            good_field(5, "one byte over a block", "0123456789abcdefg"),
            good_field(6, "a Chinese name", "欧阳小明"),
            good_field(7, "beyond the basic plane", "𠮷野🎈"),
            good_field(8, "a byte order mark is text", "\ufeffx"),
            good_field(9, "line breaks and a NUL", "a\nb\r\n\u0000c"),
            good_field(10, "many blocks", "0123456789" * 50),
        ],
        "bad": [{"name": name, "why": why, "value": value} for name, why, value in bad],
    })


# Encrypted fields that are authenticated

PREFIX_V2 = "svc_aes_v2:"
AES_KEY_V2 = hmac.new(AES_KEY, b"svc_aes_v2", hashlib.sha256).digest()


def aes_blocks(key, blocks):
    command = ["openssl", "enc", "-aes-256-ecb", "-nopad", "-K", key.hex()]
    return subprocess.run(command, input=blocks, capture_output=True, check=True).stdout


def gf_multiply(x, y):
    """In GCM's field of 2^128 elements, the leftmost bit first (SP 800-38D, 6.3)."""
    product = 0
    for bit in range(127, -1, -1):
        if x >> bit & 1:
            product ^= y
        y = y >> 1 ^ (0xE1 << 120 if y & 1 else 0)
    return product


def gcm(key, iv, plain):
    """Ciphertext and tag for an IV of 12 bytes and no additional data (SP 800-38D, 7.1)."""
    counters = b"".join(iv + number.to_bytes(4, "big") for number in range(1, 2 + -(-len(plain) // 16)))
    stream = aes_blocks(key, bytes(16) + counters)
    hash_key, first, rest = int.from_bytes(stream[:16], "big"), stream[16:32], stream[32:]
    cipher = bytes(a ^ b for a, b in zip(plain, rest))
    hashed = 0
    for block in [*(cipher[at:at + 16].ljust(16, b"\0") for at in range(0, len(cipher), 16)),
                  (8 * len(cipher)).to_bytes(16, "big")]:
        hashed = gf_multiply(hashed ^ int.from_bytes(block, "big"), hash_key)
    return cipher, bytes(a ^ b for a, b in zip(hashed.to_bytes(16, "big"), first))


def check_gcm():
    """Test cases 13, 14 and 15 of McGrew and Viega, The Galois/Counter Mode of Operation."""
    key = bytes.fromhex("feffe9928665731c6d6a8f9467308308" * 2)
    plain = bytes.fromhex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                          "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255")
    assert gcm(bytes(32), bytes(12), b"") == (b"", bytes.fromhex("530f8afbc74536b9a963b4f1c4cb738b"))
    assert gcm(bytes(32), bytes(12), bytes(16)) == (
        bytes.fromhex("cea7403d4d606b6e074ec5d3baf39d18"), bytes.fromhex("d0d1c8a799996bf0265b98b5d48ab919"))
    assert gcm(key, bytes.fromhex("cafebabefacedbaddecaf888"), plain) == (
        bytes.fromhex("522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                      "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad"),
        bytes.fromhex("b094dac5d93471bdec1a502270e3cc6c"))


def sealed(iv, plain, key=AES_KEY_V2):
    return iv + b"".join(gcm(key, iv, plain))


def good_field_v2(number, name, text):
    iv = iv_of(number)[:12]
    return {"name": name, "text": text, "ivHex": iv.hex(), "value": PREFIX_V2 + b64(sealed(iv, text.encode()))}


def authenticated_fields():
    check_gcm()
    iv = iv_of(99)[:12]
    whole = sealed(iv, b"13800000001")

    def flipped(at):
        return PREFIX_V2 + b64(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])

    def field(plain):
        return PREFIX_V2 + b64(sealed(iv, plain))

    unpadded = next(PREFIX_V2 + b64(sealed(iv, b"1" * count)).rstrip("=") for count in (5, 6, 7)
                    if b64(sealed(iv, b"1" * count)).endswith("="))
    bad = [
        ("prefix alone", "no bytes at all", PREFIX_V2),
        ("prefix in capitals", "prefix is case sensitive", "SVC_AES_V2:" + b64(whole)),
        ("prefix of the other version", "a value of this form is nothing in the other", PREFIX + b64(whole)),
        ("a value of the other version", "a value of the other form is nothing in this one",
         PREFIX_V2 + b64(iv_of(99) + aes(b"13800000001", iv_of(99)))),
        ("not base64", "characters outside the alphabet", PREFIX_V2 + "!" * 52),
        ("a line break at the end", "base64 with white space", PREFIX_V2 + b64(whole) + "\n"),
        ("padding left out", "base64 without its padding", unpadded),
        ("IV alone", "no tag", PREFIX_V2 + b64(iv)),
        ("27 bytes", "shorter than an IV and a tag", PREFIX_V2 + b64(whole[:27])),
        ("tag cut short", "a tag of 15 bytes", PREFIX_V2 + b64(whole[:-1])),
        ("tag left out", "the text's end is read as its tag", PREFIX_V2 + b64(whole[:-16])),
        ("a byte more", "the tag does not belong to it", PREFIX_V2 + b64(whole + b"\0")),
        ("a bit of the IV", "the tag does not belong to it", flipped(0)),
        ("a bit of the text", "the tag does not belong to it", flipped(12)),
        ("a bit of the tag", "the tag does not belong to it", flipped(len(whole) - 1)),
        ("under the aesKey itself", "the key is derived from the aesKey",
         PREFIX_V2 + b64(sealed(iv, b"13800000001", AES_KEY))),
        ("under another key", "the tag does not belong to it", PREFIX_V2 + b64(sealed(iv, b"13800000001", bytes(32)))),
        ("a lone continuation byte", "text is not UTF-8", field(b"abc\x80")),
        ("a cut character", "text is not UTF-8", field("你".encode()[:2])),
        ("an encoded surrogate", "text is not UTF-8", field(b"\xed\xa0\x80")),
    ]
    write("encrypted-fields-v2.json", {
        "aesKey": b64(AES_KEY),
        "derivedKeyHex": AES_KEY_V2.hex(),
        "good": [
            good_field_v2(1, "a mobile number", "13800000001"),
            good_field_v2(2, "the empty text", ""),
            good_field_v2(3, "one byte short of a block", "0123456789abcde"),
            good_field_v2(4, "exactly a block", "0123456789abcdef"),
            good_field_v2(5, "one byte over a block", "0123456789abcdefg"),
            good_field_v2(6, "a Chinese name", "欧阳小明"),
            good_field_v2(7, "beyond the basic plane", "𠮷野🎈"),
            good_field_v2(8, "a byte order mark is text", "\ufeffx"),
            good_field_v2(9, "line breaks and a NUL", "a\nb\r\n\u0000c"),
            good_field_v2(10, "many blocks", "0123456789" * 50),
        ],
        "bad": [{"name": name, "why": why, "value": value} for name, why, value in bad],
    })


# Time


def epoch_ms(moment):
    return (moment - EPOCH) // timedelta(milliseconds=1)


def formatted(moment):
    local = moment.astimezone(UTC8)
    return f"{local.year:04d}-{local.month:02d}-{local.day:02d} {local.hour:02d}:{local.minute:02d}:{local.second:02d}"


def format_case(name, *fields, ms=0):
    moment = datetime(*fields, tzinfo=UTC8) + timedelta(milliseconds=ms)
    return {"name": name, "epochMs": epoch_ms(moment), "text": formatted(moment)}


def parse_case(name, text):
    iso = text.replace("Z", "+00:00") if text.endswith("Z") else text
    moment = datetime.fromisoformat(iso)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC8)
    return {"name": name, "text": text, "epochMs": epoch_ms(moment), "formatted": formatted(moment)}


def times():
    write("time.json", {
        "format": [
            {"name": "the epoch", "epochMs": 0, "text": formatted(EPOCH)},
            {"name": "a millisecond before the epoch", "epochMs": -1,
             "text": formatted(EPOCH - timedelta(milliseconds=1))},
            format_case("a millisecond before midnight", 2026, 3, 1, ms=-1),
            format_case("midnight", 2026, 3, 1),
            format_case("last second of a year", 2025, 12, 31, 23, 59, 59),
            format_case("first second of a year", 2026, 1, 1),
            format_case("the last millisecond of a second", 2026, 1, 1, ms=999),
            format_case("leap day", 2028, 2, 29, 12, 34, 56),
            format_case("the day after a leap day", 2028, 3, 1),
            format_case("leap day of a century", 2000, 2, 29, 23, 59, 59),
            format_case("a century without leap day", 2100, 3, 1, ms=-1000),
            format_case("in a summer that had summer time", 1988, 7, 1, 12, 0, 0),
            format_case("before standard time", 1900, 1, 1, 0, 0, 0),
            format_case("beyond 32 bits", 2038, 1, 19, 11, 14, 8),
            format_case("first day of year 1", 1, 1, 1, 8, 0, 0),
            format_case("last second of four-digit years", 9999, 12, 31, 23, 59, 59),
        ],
        "parse": [
            parse_case("the interface's format", "2026-01-31 08:09:10"),
            parse_case("midnight", "2026-01-31 00:00:00"),
            parse_case("leap day", "2028-02-29 23:59:59"),
            parse_case("leap day of a century", "2000-02-29 00:00:00"),
            parse_case("last second of four-digit years", "9999-12-31 23:59:59"),
            parse_case("ISO at the interface's offset", "2026-01-31T08:09:10+08:00"),
            parse_case("ISO in UTC", "2026-01-31T08:09:10Z"),
            parse_case("ISO in UTC, over the year's end", "2025-12-31T16:00:00Z"),
            parse_case("ISO without an offset", "2026-01-31T08:09:10"),
            parse_case("ISO west of Greenwich", "2025-12-31T23:59:59-05:00"),
            parse_case("ISO with half an hour", "2026-03-01T00:00:00-03:30"),
            parse_case("ISO with three quarters", "2026-03-01T00:00:00+05:45"),
            parse_case("ISO with a zero offset west", "2026-03-01T00:00:00-00:00"),
            parse_case("ISO with the widest offset", "2026-03-01T00:00:00+23:59"),
            parse_case("ISO over a leap day by its offset", "2028-02-29T20:00:00-08:00"),
            parse_case("ISO with a tenth", "2026-01-31T08:09:10.5Z"),
            parse_case("ISO with milliseconds", "2026-01-31T08:09:10.123+08:00"),
            parse_case("ISO with microseconds", "2026-01-31T08:09:10.123999"),
        ],
        "rejected": [{"text": text, "why": why} for text, why in [
            ("", "nothing"),
            ("2026-02-31 00:00:00", "31 February"),
            ("2026-02-29 00:00:00", "no leap year"),
            ("2100-02-29 00:00:00", "a century is no leap year"),
            ("2026-04-31 00:00:00", "April has 30 days"),
            ("2026-13-01 00:00:00", "month 13"),
            ("2026-00-01 00:00:00", "month 0"),
            ("2026-01-00 00:00:00", "day 0"),
            ("2026-01-32 00:00:00", "day 32"),
            ("2026-01-31 24:00:00", "hour 24"),
            ("2026-01-31 23:60:00", "minute 60"),
            ("2026-01-31 23:59:60", "a leap second"),
            ("2026-01-31T24:00:00Z", "hour 24"),
            ("2026-02-31T00:00:00Z", "31 February"),
            ("2026-01-31T00:00:00+24:00", "offset of a day"),
            ("2026-01-31T00:00:00+08:60", "offset with 60 minutes"),
            ("2026-01-31T00:00:00+8:00", "offset with one digit"),
            ("2026-01-31T00:00:00+0800", "offset without a colon"),
            ("2026-01-31T00:00:00z", "small z"),
            ("2026-01-31t00:00:00Z", "small t"),
            ("2026-01-31T00:00:00.Z", "a fraction without digits"),
            ("2026-01-31T00:00Z", "no seconds"),
            ("2026-01-31 00:00:00Z", "the interface's format has no offset"),
            ("2026-01-31 00:00:00.5", "the interface's format has no fraction"),
            ("2026-01-31  00:00:00", "two spaces"),
            (" 2026-01-31 00:00:00", "a space before"),
            ("2026-01-31 00:00:00\n", "a line break after"),
            ("2026-1-31 00:00:00", "month with one digit"),
            ("26-01-31 00:00:00", "year with two digits"),
            ("+02026-01-31 00:00:00", "year with a sign"),
            ("2026-01-31", "no time of day"),
            ("1767225600000", "milliseconds"),
            ("２０２６-01-31 00:00:00", "digits of another script"),
            ("9999-12-31T23:59:59Z", "year 10000 in UTC+8"),
        ]],
    })


if __name__ == "__main__":
    signatures()
    redeem_links()
    encrypted_fields()
    authenticated_fields()
    times()
