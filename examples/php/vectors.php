<?php

// Proves Perennial.php against the known answers.
//
//   php examples/php/vectors.php [folder of the vectors]

declare(strict_types=1);

require __DIR__ . '/Perennial.php';

$folder = $argv[1] ?? __DIR__ . '/../../packages/wire/vectors';
$wrong = [];

function check(string $name, bool $holds): void
{
    global $wrong;
    if (!$holds) {
        $wrong[] = $name;
    }
}

function requests(array $of): void
{
    foreach ($of['cases'] as $case) {
        $body = hex2bin($case['bodyHex']);
        $made = Perennial::sign(
            $of['appSecret'],
            $case['path'],
            $case['query'],
            $body,
            $case['timestamp'],
            $case['nonce'],
            $case['requestId']
        );
        check($case['name'], $made === $case['signature']);
    }
}

function events(array $of): void
{
    foreach ($of['cases'] as $case) {
        $headers = [
            'HTTP_X_SVC_TIMESTAMP' => $case['timestamp'],
            'HTTP_X_SVC_NONCE' => $case['nonce'],
            'HTTP_X_SVC_EVENT_ID' => $case['eventId'],
            'HTTP_X_SVC_SIGNATURE' => $case['signature'],
        ];
        ['name' => $name, 'path' => $path] = $case;
        [$body, $sent] = [hex2bin($case['bodyHex']), (int) $case['timestamp']];
        $verify = fn (string $path, array $headers, string $body, int $now): bool =>
            Perennial::verifyAt($of['callbackSecret'], $path, $headers, $body, $now);
        check($name, $verify($path, $headers, $body, $sent + 300_000));
        check("$name: too old", !$verify($path, $headers, $body, $sent + 300_001));
        check("$name: another body", !$verify($path, $headers, "$body ", $sent));
        check("$name: another path", !$verify("{$path}x", $headers, $body, $sent));
        check("$name: no signature", !$verify($path, [], $body, $sent));
    }
}

function fields(array $of, callable $encrypt): void
{
    foreach ($of['good'] as $case) {
        check($case['name'], $encrypt($of['aesKey'], $case['text'], hex2bin($case['ivHex'])) === $case['value']);
        check("{$case['name']}: decrypted", Perennial::decryptValue($of['aesKey'], $case['value']) === $case['text']);
    }
    foreach ($of['bad'] as $case) {
        check("{$case['name']} must be refused", isRefused($of['aesKey'], $case['value']));
    }
}

function isRefused(string $aesKey, string $value): bool
{
    try {
        Perennial::decryptValue($aesKey, $value);
        return false;
    } catch (UnexpectedValueException) {
        return true;
    }
}

function links(array $of): void
{
    foreach ($of['cases'] as $case) {
        $made = Perennial::redeemLink(
            $of['callbackSecret'],
            $case['host'],
            $case['orderNo'],
            $case['appId'],
            $case['channelUserId'],
            $case['exp']
        );
        check($case['name'], $made === $case['url']);
    }
}

$proofs = [
    'request-signature' => requests(...),
    'webhook-signature' => events(...),
    'encrypted-fields' => fn (array $of) => fields($of, Perennial::encryptV1(...)),
    'encrypted-fields-v2' => fn (array $of) => fields($of, Perennial::encryptV2(...)),
    'redeem-link' => links(...),
];
foreach ($proofs as $name => $prove) {
    $of = json_decode(file_get_contents("$folder/$name.json"), true, 32, JSON_THROW_ON_ERROR);
    $prove($of);
    $cases = count([...$of['cases'] ?? [], ...$of['good'] ?? [], ...$of['bad'] ?? []]);
    echo str_pad($name, 20), " $cases cases\n";
}
if ($wrong !== []) {
    fwrite(STDERR, 'vectors: wrong: ' . implode('; ', $wrong) . "\n");
    exit(1);
}
