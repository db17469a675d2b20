#!/usr/bin/env python3
"""Proves perennial.py against the known answers.

    python3 examples/python/vectors.py [folder of the vectors]
"""

import json
import pathlib
import sys

import perennial

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent.parent / "packages/wire/vectors"
wrong = []


def check(name, holds):
    if not holds:
        wrong.append(name)


def read(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def requests(of):
    for case in of["cases"]:
        body = bytes.fromhex(case["bodyHex"])
        parts = (case["path"], case["query"], body, case["timestamp"], case["nonce"], case["requestId"])
        check(case["name"], perennial.sign(of["appSecret"], *parts) == case["signature"])
    return len(of["cases"])


def events(of):
    for case in of["cases"]:
        secret, path, body, sent = of["callbackSecret"], case["path"], bytes.fromhex(case["bodyHex"]), int(case["timestamp"])
        headers = {
            "X-SVC-Timestamp": case["timestamp"],
            "X-SVC-Nonce": case["nonce"],
            "X-SVC-Event-Id": case["eventId"],
            "X-SVC-Signature": case["signature"],
        }
        check(case["name"], perennial.verify(secret, path, headers, body, sent + 300_000))
        check(f"{case['name']}: too old", not perennial.verify(secret, path, headers, body, sent + 300_001))
        check(f"{case['name']}: another body", not perennial.verify(secret, path, headers, body + b" ", sent))
        check(f"{case['name']}: another path", not perennial.verify(secret, path + "x", headers, body, sent))
        check(f"{case['name']}: no signature", not perennial.verify(secret, path, {}, body, sent))
    return len(of["cases"])


def fields(of, encrypt):
    for case in of["good"]:
        check(case["name"], encrypt(of["aesKey"], case["text"], bytes.fromhex(case["ivHex"])) == case["value"])
        check(f"{case['name']}: decrypted", perennial.decrypt(of["aesKey"], case["value"]) == case["text"])
        check(f"{case['name']}: anew", perennial.decrypt(of["aesKey"], encrypt(of["aesKey"], case["text"])) == case["text"])
    for case in of["bad"]:
        check(f"{case['name']} must be refused", is_refused(of["aesKey"], case["value"]))
    return len(of["good"]) + len(of["bad"])


def is_refused(aes_key, value):
    try:
        perennial.decrypt(aes_key, value)
        return False
    except ValueError:
        return True


def links(of):
    for case in of["cases"]:
        parts = (case["host"], case["orderNo"], case["appId"], case["channelUserId"], case["exp"])
        check(case["name"], perennial.redeem_link(of["callbackSecret"], *parts) == case["url"])
    return len(of["cases"])


for name, prove in (
    ("request-signature", requests),
    ("webhook-signature", events),
    ("encrypted-fields", lambda of: fields(of, perennial.encrypt_v1)),
    ("encrypted-fields-v2", lambda of: fields(of, perennial.encrypt)),
    ("redeem-link", links),
):
    print(f"{name:<20} {prove(read(name))} cases")
if wrong:
    sys.exit("vectors: wrong: " + "; ".join(wrong))
