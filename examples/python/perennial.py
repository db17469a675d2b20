"""A channel's client for Perennial. Copy this file into your project.

    channel = Channel.read("data/demo-channel.json")
    order = channel.call("orders/create", {"mobileEncrypted": channel.encrypt("13800000001"), ...})

Python 3.9 or newer. Signing and sending take the standard library alone; encrypt and decrypt take the package cryptography
(pip install cryptography, or Debian's python3-cryptography).
"""

import base64
import binascii
import hashlib
import hmac
import http.client
import json
import os
import threading
import time
import urllib.parse
import urllib.request
import uuid

PREFIX = "/openapi/v1/"
WAITS = (1, 3, 9)  # seconds before each retry
TIMEOUT = 15
TOKEN_ENDED = ("401005", "401006")
MAX_EVENT_AGE_MS = 5 * 60 * 1000


class PerennialError(Exception):
    """A refusal with its code. NO_ANSWER: the last attempt got no answer that can be read."""

    def __init__(self, endpoint, code, message, request_id):
        self.endpoint = endpoint
        self.code = code
        self.message = message
        self.request_id = request_id
        super().__init__(f"{endpoint} was refused: {code} {message} (request {request_id})")


class UnreadableChannel(Exception):
    """The file with the credentials is missing or invalid."""


class Channel:
    """One channel with its token. Threads may share it."""

    def __init__(self, base_url, app_id, app_secret, aes_key=None, callback_secret=None):
        self.base_url = base_url
        self.app_id = app_id
        self.app_secret = app_secret
        self.aes_key = aes_key
        self.callback_secret = callback_secret
        self._lock = threading.Lock()
        self._token = None
        self._token_ends = 0.0

    @classmethod
    def read(cls, path=os.path.join(os.environ.get("DATA_DIR", "data"), "demo-channel.json")):
        """Reads the channel from a file as `npm start` writes it."""
        try:
            with open(path, encoding="utf-8") as file:
                of = json.load(file)
            return cls(of["baseUrl"], of["appId"], of["appSecret"], of["aesKey"], of["callbackSecret"])
        except (OSError, ValueError, KeyError) as reason:
            advice = "npm start writes it; set DATA_DIR, or name the file"
            raise UnreadableChannel(f"{path} cannot be read: {advice}") from reason

    def call(self, endpoint, content, idempotency_key=None):
        """Sends one request and returns the `data` of its answer. Pass a key to retry the same write later."""
        key = idempotency_key or str(uuid.uuid4())
        token = self._current_token(ended=None)
        try:
            return self._send(endpoint, content, key, token)
        except PerennialError as refusal:
            if refusal.code not in TOKEN_ENDED:
                raise
        return self._send(endpoint, content, key, self._current_token(ended=token))

    def encrypt(self, text):
        return encrypt(self.aes_key, text)

    def decrypt(self, value):
        return decrypt(self.aes_key, value)

    def verify(self, path, headers, body):
        return verify(self.callback_secret, path, headers, body)

    def _current_token(self, ended):
        """Returns a token. Renews it a minute before it expires, or if the service reports its end."""
        with self._lock:
            if self._token in (None, ended) or time.monotonic() > self._token_ends:
                asked = {"grantType": "client_credentials", "appId": self.app_id}
                data = self._send("auth/token", asked, str(uuid.uuid4()), None)
                self._token = data["accessToken"]
                self._token_ends = time.monotonic() + int(data["expiresIn"]) - 60
            return self._token

    def _send(self, endpoint, content, key, token):
        """Retries with the same body and key, and signs each attempt again."""
        body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        for wait in (*WAITS, None):
            request_id = str(uuid.uuid4())
            status, retry_after, text = self._post(endpoint, body, self._headers(endpoint, body, key, token, request_id))
            envelope = _read_envelope(text)
            if envelope is None and 200 <= status < 300:
                status, text = 0, "the answer was cut off"
            if wait is None or not (status in (0, 429) or status >= 500):
                break
            time.sleep(int(retry_after) if status == 429 and retry_after.isdecimal() else wait)
        if envelope is None:
            raise PerennialError(endpoint, "NO_ANSWER", f"HTTP {status}" if status else text, request_id)
        if envelope["code"] != "0":
            raise PerennialError(endpoint, envelope["code"], envelope["message"], envelope["requestId"])
        return envelope["data"]

    def _headers(self, endpoint, body, key, token, request_id):
        timestamp = str(time.time_ns() // 1_000_000)
        nonce = os.urandom(16).hex()
        headers = {
            "Content-Type": "application/json;charset=UTF-8",
            "X-SVC-App-Id": self.app_id,
            "X-SVC-Timestamp": timestamp,
            "X-SVC-Nonce": nonce,
            "X-SVC-Request-Id": request_id,
            "X-SVC-Signature": sign(self.app_secret, PREFIX + endpoint, "", body, timestamp, nonce, request_id),
            "Idempotency-Key": key,  # reads ignore it
        }
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return headers

    def _post(self, endpoint, body, headers):
        """Returns HTTP status, Retry-After and text. Status 0 is a broken connection or a timeout."""
        request = urllib.request.Request(self.base_url + PREFIX + endpoint, data=body, headers=headers, method="POST")
        try:
            with _opener.open(request, timeout=TIMEOUT) as response:
                return response.status, response.headers.get("Retry-After", ""), response.read()
        except (OSError, http.client.HTTPException) as failure:
            return 0, "", str(failure)


class _EveryStatus(urllib.request.HTTPErrorProcessor):
    """Returns refusals like other answers, and follows no redirects."""

    def http_response(self, request, response):
        return response

    https_response = http_response


_opener = urllib.request.build_opener(_EveryStatus)


def _read_envelope(text):
    try:
        envelope = json.loads(text)
    except ValueError:
        return None
    return envelope if isinstance(envelope, dict) and "code" in envelope else None


def sign(secret, path, query, body, timestamp, nonce, request_id):
    """Returns the signature of a request, or of an event, whose id is then the last line. The digest covers the bytes."""
    lines = ["POST", path, query, hashlib.sha256(body).hexdigest(), timestamp, nonce, request_id]
    return base64.b64encode(_mac(secret, "\n".join(lines))).decode()


def verify(callback_secret, path, headers, body, now_ms=None):
    """Returns whether an event is authentic and was sent within 5 minutes. `body` is the raw bytes."""
    timestamp, nonce, event_id, given = (
        headers.get(f"X-SVC-{name}") or "" for name in ("Timestamp", "Nonce", "Event-Id", "Signature")
    )
    expected = sign(callback_secret, path, "", body, timestamp, nonce, event_id)
    if not hmac.compare_digest(given.encode(), expected.encode()):
        return False
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    return timestamp.isdecimal() and abs(now_ms - int(timestamp)) <= MAX_EVENT_AGE_MS


def redeem_link(callback_secret, host, order_no, app_id, channel_user_id, exp):
    """Returns a link to the redemption page, as the service creates it. `exp` is in Unix seconds."""
    nothing = hashlib.sha256(b"").hexdigest()
    mac = _mac(callback_secret, "\n".join(["GET", "/redeem", "", nothing, str(exp), app_id, channel_user_id, order_no]))
    sig = base64.urlsafe_b64encode(mac).decode().rstrip("=")
    values = {"orderNo": order_no, "appId": app_id, "channelUserId": channel_user_id, "exp": exp, "sig": sig}
    return f"{host}/redeem?" + urllib.parse.urlencode(values, quote_via=urllib.parse.quote, safe="")


# region Encrypted fields
def encrypt(aes_key, text, iv=None):
    """Encrypts in svc_aes_v2. `iv` is only for known answers: never use one twice."""
    iv = iv or os.urandom(12)
    sealed = _gcm(aes_key).encrypt(iv, text.encode(), None)
    return "svc_aes_v2:" + base64.b64encode(iv + sealed).decode()


def encrypt_v1(aes_key, text, iv=None):
    """Encrypts in svc_aes_v1, which does not detect tampering: prefer v2."""
    iv = iv or os.urandom(16)
    cipher, padding = _cbc(aes_key, iv)
    padder, encryptor = padding.padder(), cipher.encryptor()
    padded = padder.update(text.encode()) + padder.finalize()
    return "svc_aes_v1:" + base64.b64encode(iv + encryptor.update(padded) + encryptor.finalize()).decode()


def decrypt(aes_key, value):
    """Decrypts either version. Raises ValueError, without the reason, for an unreadable value."""
    try:
        bare = _from_base64(value[11:])
        if value.startswith("svc_aes_v2:"):
            return _gcm(aes_key).decrypt(bare[:12], bare[12:], None).decode()
        if value.startswith("svc_aes_v1:"):
            cipher, padding = _cbc(aes_key, bare[:16])
            decryptor, unpadder = cipher.decryptor(), padding.unpadder()
            padded = decryptor.update(bare[16:]) + decryptor.finalize()
            return (unpadder.update(padded) + unpadder.finalize()).decode()
    except ImportError:
        raise
    except Exception:
        pass  # one error for all: telling wrong padding from wrong text would let a client decrypt v1
    raise ValueError("the value cannot be decrypted")


def _mac(secret, text):
    return hmac.new(base64.b64decode(secret), text.encode(), hashlib.sha256).digest()


def _from_base64(text):
    """Accepts only canonical standard base64."""
    bare = base64.b64decode(text, validate=True)
    if base64.b64encode(bare).decode() != text:
        raise binascii.Error("not canonical")
    return bare


def _gcm(aes_key):
    aead = _cryptography("ciphers.aead")
    return aead.AESGCM(_mac(aes_key, "svc_aes_v2"))


def _cbc(aes_key, iv):
    ciphers, padding = _cryptography("ciphers"), _cryptography("padding")
    algorithm = ciphers.algorithms.AES(base64.b64decode(aes_key))
    return ciphers.Cipher(algorithm, ciphers.modes.CBC(iv)), padding.PKCS7(128)


def _cryptography(module):
    """Imports the package only when needed, so that programs without encryption work without it."""
    import importlib

    try:
        return importlib.import_module(f"cryptography.hazmat.primitives.{module}")
    except ImportError as missing:
        message = "encrypting needs the package cryptography: pip install cryptography, or apt install python3-cryptography"
        raise ImportError(message) from missing
# endregion
