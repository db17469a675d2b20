<?php

declare(strict_types=1);

/**
 * A channel's client for Perennial. Copy this file into your project. PHP 8.1 or newer with its extension openssl, which the
 * package php-cli has.
 *
 *     $channel = Perennial::read('data/demo-channel.json');
 *     $order = $channel->call('orders/create', ['mobileEncrypted' => $channel->encrypt('13800000001'), ...]);
 */
final class Perennial
{
    private const PREFIX = '/openapi/v1/';
    /** Seconds before each retry. */
    private const WAITS = [1, 3, 9];
    private const TIMEOUT = 15;
    private const TOKEN_ENDED = ['401005', '401006'];
    private const MAX_EVENT_AGE_MS = 300_000;

    /** Kept in this object only: if each web request has its own process, keep the token in APCu or the like. */
    private ?string $token = null;
    private int $tokenEnds = 0;

    public function __construct(
        private readonly string $baseUrl,
        private readonly string $appId,
        private readonly string $appSecret,
        private readonly string $aesKey,
        private readonly string $callbackSecret,
    ) {
    }

    /** Reads the channel from a file as `npm start` writes it. */
    public static function read(string $file): self
    {
        $text = is_readable($file) ? file_get_contents($file) : '';
        $of = json_decode($text, true);
        if (!is_array($of) || !isset($of['baseUrl'], $of['appId'], $of['appSecret'], $of['aesKey'], $of['callbackSecret'])) {
            throw new InvalidArgumentException(
                "$file cannot be read: npm start writes it; set DATA_DIR, or name the file"
            );
        }
        return new self($of['baseUrl'], $of['appId'], $of['appSecret'], $of['aesKey'], $of['callbackSecret']);
    }

    /** Sends one request and returns the `data` of its answer. Pass a key to retry the same write later. */
    public function call(string $endpoint, array $content, ?string $idempotencyKey = null): array
    {
        $key = $idempotencyKey ?? self::newKey();
        $token = $this->currentToken(null);
        try {
            return $this->send($endpoint, $content, $key, $token);
        } catch (PerennialException $refusal) {
            if (!in_array($refusal->resultCode, self::TOKEN_ENDED, true)) {
                throw $refusal;
            }
        }
        return $this->send($endpoint, $content, $key, $this->currentToken($token));
    }

    /** Returns the value of a field whose name ends in Encrypted, in svc_aes_v2. */
    public function encrypt(string $text): string
    {
        return self::encryptV2($this->aesKey, $text, random_bytes(12));
    }

    /** Decrypts a value of either version. */
    public function decrypt(string $value): string
    {
        return self::decryptValue($this->aesKey, $value);
    }

    /**
     * Returns whether an event is authentic and was sent within 5 minutes. The body is the raw bytes; the headers are
     * those of $_SERVER, by their names there.
     */
    public function verify(string $path, array $server, string $body): bool
    {
        return self::verifyAt($this->callbackSecret, $path, $server, $body, self::nowMs());
    }

    public static function newKey(): string
    {
        return bin2hex(random_bytes(16));
    }

    /** Returns a token. Renews it a minute before it expires, or if the service reports its end. */
    private function currentToken(?string $ended): string
    {
        if ($this->token === null || $this->token === $ended || time() > $this->tokenEnds) {
            $asked = ['grantType' => 'client_credentials', 'appId' => $this->appId];
            $data = $this->send('auth/token', $asked, self::newKey(), null);
            $this->token = $data['accessToken'];
            $this->tokenEnds = time() + (int) $data['expiresIn'] - 60;
        }
        return $this->token;
    }

    /** Retries with the same body and key, and signs each attempt again. */
    private function send(string $endpoint, array $content, string $key, ?string $token): array
    {
        $body = json_encode((object) $content, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
        foreach ([...self::WAITS, null] as $wait) {
            $requestId = self::newKey();
            [$status, $retryAfter, $text] = $this->post($endpoint, $body, $key, $token, $requestId);
            $envelope = json_decode($text, true);
            if (!isset($envelope['code'])) {
                // An unreadable answer with a success status was cut off.
                [$envelope, $status] = [null, $status < 300 ? 0 : $status];
            }
            if ($wait === null || !($status === 0 || $status === 429 || $status >= 500)) {
                break;
            }
            sleep($status === 429 && ctype_digit($retryAfter) ? (int) $retryAfter : $wait);
        }
        if ($envelope === null) {
            $message = $status === 0 ? "nothing answers at {$this->baseUrl}" : "HTTP $status";
            throw new PerennialException($endpoint, 'NO_ANSWER', $message, $requestId);
        }
        if ($envelope['code'] !== '0') {
            throw new PerennialException($endpoint, $envelope['code'], $envelope['message'], $envelope['requestId']);
        }
        return $envelope['data'];
    }

    /** Returns HTTP status, Retry-After and text. Status 0 is a broken connection or a timeout. */
    private function post(string $endpoint, string $body, string $key, ?string $token, string $requestId): array
    {
        $timestamp = (string) self::nowMs();
        $nonce = bin2hex(random_bytes(16));
        $headers = [
            'Content-Type: application/json;charset=UTF-8',
            "X-SVC-App-Id: {$this->appId}",
            "X-SVC-Timestamp: $timestamp",
            "X-SVC-Nonce: $nonce",
            "X-SVC-Request-Id: $requestId",
            'X-SVC-Signature: '
                . self::sign($this->appSecret, self::PREFIX . $endpoint, '', $body, $timestamp, $nonce, $requestId),
            "Idempotency-Key: $key", // reads ignore it
            'Connection: close',
        ];
        if ($token !== null) {
            $headers[] = "Authorization: Bearer $token";
        }
        $context = stream_context_create(['http' => [
            'method' => 'POST',
            'header' => $headers,
            'content' => $body,
            'timeout' => self::TIMEOUT,
            'protocol_version' => 1.1,
            'follow_location' => 0,
            'ignore_errors' => true,
        ]]);
        $text = @file_get_contents($this->baseUrl . self::PREFIX . $endpoint, false, $context);
        [$status, $retryAfter] = [0, ''];
        foreach ($text === false ? [] : $http_response_header as $line) {
            if (preg_match('#^HTTP/\S+ (\d+)#', $line, $found)) {
                $status = (int) $found[1];
            } elseif (preg_match('#^Retry-After: *(\d+)#i', $line, $found)) {
                $retryAfter = $found[1];
            }
        }
        return [$status, $retryAfter, (string) $text];
    }

    /** Returns the signature of a request, or of an event, whose id is then the last line. The digest covers the bytes sent. */
    public static function sign(
        string $secret,
        string $path,
        string $query,
        string $body,
        string $timestamp,
        string $nonce,
        string $requestId,
    ): string {
        $lines = ['POST', $path, $query, hash('sha256', $body), $timestamp, $nonce, $requestId];
        return base64_encode(self::mac($secret, implode("\n", $lines)));
    }

    public static function verifyAt(string $callbackSecret, string $path, array $server, string $body, int $nowMs): bool
    {
        $header = fn (string $name): string => (string) ($server["HTTP_X_SVC_$name"] ?? '');
        $timestamp = $header('TIMESTAMP');
        $expected = self::sign($callbackSecret, $path, '', $body, $timestamp, $header('NONCE'), $header('EVENT_ID'));
        return hash_equals($expected, $header('SIGNATURE'))
            && ctype_digit($timestamp)
            && abs($nowMs - (int) $timestamp) <= self::MAX_EVENT_AGE_MS;
    }

    /** Returns a link to the redemption page, as the service creates it. $exp is in Unix seconds. */
    public static function redeemLink(
        string $callbackSecret,
        string $host,
        string $orderNo,
        string $appId,
        string $channelUserId,
        int $exp,
    ): string {
        $lines = ['GET', '/redeem', '', hash('sha256', ''), (string) $exp, $appId, $channelUserId, $orderNo];
        $sig = rtrim(strtr(base64_encode(self::mac($callbackSecret, implode("\n", $lines))), '+/', '-_'), '=');
        $values = compact('orderNo', 'appId', 'channelUserId', 'exp', 'sig');
        return "$host/redeem?" . http_build_query($values, '', '&', PHP_QUERY_RFC3986);
    }

    // region Encrypted fields
    /** Encrypts in svc_aes_v2. Never use an IV twice. */
    public static function encryptV2(string $aesKey, string $text, string $iv): string
    {
        $key = self::mac($aesKey, 'svc_aes_v2');
        $sealed = openssl_encrypt($text, 'aes-256-gcm', $key, OPENSSL_RAW_DATA, $iv, $tag);
        return 'svc_aes_v2:' . base64_encode($iv . $sealed . $tag);
    }

    /** Encrypts in svc_aes_v1, which does not detect tampering: prefer v2. */
    public static function encryptV1(string $aesKey, string $text, string $iv): string
    {
        $sealed = openssl_encrypt($text, 'aes-256-cbc', base64_decode($aesKey, true), OPENSSL_RAW_DATA, $iv);
        return 'svc_aes_v1:' . base64_encode($iv . $sealed);
    }

    /** Decrypts either version. One exception for all: telling wrong padding from wrong text would let a client decrypt v1. */
    public static function decryptValue(string $aesKey, string $value): string
    {
        $bare = base64_decode(substr($value, 11), true);
        $isCanonical = $bare !== false && base64_encode($bare) === substr($value, 11);
        $text = match (true) {
            !$isCanonical => false,
            str_starts_with($value, 'svc_aes_v2:') => self::openV2($aesKey, $bare),
            str_starts_with($value, 'svc_aes_v1:') => self::openV1($aesKey, $bare),
            default => false,
        };
        if ($text === false || preg_match('//u', $text) !== 1) {
            throw new UnexpectedValueException('the value cannot be decrypted');
        }
        return $text;
    }

    private static function openV2(string $aesKey, string $bare): string|false
    {
        if (strlen($bare) < 28) {
            return false;
        }
        $key = self::mac($aesKey, 'svc_aes_v2');
        $sealed = substr($bare, 12, -16);
        return openssl_decrypt($sealed, 'aes-256-gcm', $key, OPENSSL_RAW_DATA, substr($bare, 0, 12), substr($bare, -16));
    }

    private static function openV1(string $aesKey, string $bare): string|false
    {
        if (strlen($bare) < 32) {
            return false;
        }
        $key = base64_decode($aesKey, true);
        return openssl_decrypt(substr($bare, 16), 'aes-256-cbc', $key, OPENSSL_RAW_DATA, substr($bare, 0, 16));
    }

    private static function mac(string $secret, string $text): string
    {
        return hash_hmac('sha256', $text, base64_decode($secret, true), true);
    }
    // endregion

    private static function nowMs(): int
    {
        return (int) (microtime(true) * 1000);
    }
}

/** A refusal with its code. NO_ANSWER: the last attempt got no answer that can be read. */
final class PerennialException extends RuntimeException
{
    public function __construct(
        public readonly string $endpoint,
        public readonly string $resultCode,
        public readonly string $resultMessage,
        public readonly string $requestId,
    ) {
        parent::__construct("$endpoint was refused: $resultCode $resultMessage (request $requestId)");
    }
}
