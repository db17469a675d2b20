#!/usr/bin/env python3
"""First signed calls to the service: a token, then the products of the channel. Python's standard library only.

    python3 examples/first_call.py [path to demo-channel.json]
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid


def stop(reason):
    sys.exit(f"first_call: {reason}")


def read_channel(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        stop(f"{path} cannot be read: npm start writes it; set DATA_DIR, or name the file")


def sign(app_secret, path, body, timestamp, nonce, request_id):
    """Seven lines; the third is the query string, which is empty. The digest is over the bytes that are sent."""
    lines = ["POST", path, "", hashlib.sha256(body).hexdigest(), timestamp, nonce, request_id]
    mac = hmac.new(base64.b64decode(app_secret), "\n".join(lines).encode(), hashlib.sha256)
    return lines, base64.b64encode(mac.digest()).decode()


def send(url, body, headers):
    """The HTTP status and the answer; a refusal has an answer like any other."""
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=15) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


def call(channel, endpoint, content, token=None):
    """Signs and sends one request, shows both sides of it, and gives back the answer's data."""
    path = f"/openapi/v1/{endpoint}"
    body = json.dumps(content).encode()
    timestamp = str(int(time.time() * 1000))
    nonce = os.urandom(16).hex()
    request_id = str(uuid.uuid4())
    lines, signature = sign(channel["appSecret"], path, body, timestamp, nonce, request_id)

    print(f"POST {channel['baseUrl']}{path}")
    print(body.decode(), end="\n\n")
    print("Signed text")
    for line in lines:
        print(f"  {line or '(empty)'}")
    print(f"Signature\n  {signature}\n")

    headers = {
        "Content-Type": "application/json;charset=UTF-8",
        "X-SVC-App-Id": channel["appId"],
        "X-SVC-Timestamp": timestamp,
        "X-SVC-Nonce": nonce,
        "X-SVC-Request-Id": request_id,
        "X-SVC-Signature": signature,
    }
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        status, answer = send(channel["baseUrl"] + path, body, headers)
    except OSError:
        stop(f"nothing answers at {channel['baseUrl']}: start the service with npm start")

    print(f"Answer, HTTP {status}")
    text = json.dumps(answer, indent=2, ensure_ascii=False)
    if answer["data"] and "accessToken" in answer["data"]:
        whole = answer["data"]["accessToken"]
        text = text.replace(whole, whole[:8] + "...")
    print("\n".join(f"  {line}" for line in text.splitlines()), end="\n\n")
    if answer["code"] != "0":
        stop(f"{endpoint} was refused: {answer['code']} {answer['message']}")
    return answer["data"]


def main():
    default = os.path.join(os.environ.get("DATA_DIR", "data"), "demo-channel.json")
    channel = read_channel(sys.argv[1] if len(sys.argv) > 1 else default)
    token = call(channel, "auth/token", {"grantType": "client_credentials", "appId": channel["appId"]})
    products = call(channel, "products/list", {}, token["accessToken"])
    print("Products of this channel:")
    for product in products["items"]:
        cycle = f"{product['totalCycles']} x {product['period']} {product['periodType']}"
        price = f"{product['amountCent'] / 100:.2f}"
        print(f"  {product['productCode']}: {product['productName']}, {cycle}, {price} each")


if __name__ == "__main__":
    main()
