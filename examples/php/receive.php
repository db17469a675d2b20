<?php

// Receives events, as a channel must, and prints each.
//
//   PERENNIAL_CHANNEL=data/demo-channel.json php -S localhost:3000 examples/php/receive.php
//   npx perennial-server channel set test_demo --callback http://localhost:3000/events

declare(strict_types=1);

require __DIR__ . '/Perennial.php';

const PATH = '/events';

$file = getenv('PERENNIAL_CHANNEL') ?: (getenv('DATA_DIR') ?: 'data') . '/demo-channel.json';
$channel = Perennial::read($file);
// Requests share no memory, so processed events are kept in files. In production store them for 30 days in the
// database, in the transaction of the event's changes.
$dealtWith = "$file.events";

if ($_SERVER['REQUEST_METHOD'] !== 'POST' || $_SERVER['REQUEST_URI'] !== PATH) {
    return answer(404, 'not-found');
}
$body = file_get_contents('php://input', false, null, 0, 1_048_577);
if ($body === false || strlen($body) > 1_048_576) {
    return answer(400, 'length');
}
if (!$channel->verify(PATH, $_SERVER, $body)) {
    say('refused: not signed by the service, or too old');
    return answer(401, 'signature');
}
deal(json_decode($body, true, 32, JSON_THROW_ON_ERROR), $dealtWith);
answer(200, '0'); // within 5 s: longer work is done afterwards

function deal(array $event, string $dealtWith): void
{
    ['eventId' => $eventId, 'data' => $data] = $event;
    if (!is_dir($dealtWith)) {
        @mkdir($dealtWith, 0700);
    }
    // Succeeds for only one of several concurrent requests.
    if (@fopen("$dealtWith/" . hash('sha256', $eventId), 'x') === false) {
        say("again     $eventId, retryNo {$event['retryNo']}: it was dealt with");
        return;
    }
    say("event     $eventId  {$event['occurredAt']}  {$event['eventType']}  " . tell($event['eventType'], $data));
}

/** Unknown types are acknowledged too, because later versions may add some. */
function tell(string $eventType, array $data): string
{
    return match ($eventType) {
        'order.status.changed' => "order {$data['orderNo']}  {$data['orderStatus']}",
        'payment.status.changed' => "order {$data['orderNo']}  period {$data['cycleNo']} {$data['paymentStatus']}",
        // In production notify the user, with redeemUrl for unsubscribing before the debit, unless this came too late.
        'payment.upcoming' => "order {$data['orderNo']}  period {$data['cycleNo']} is due {$data['expectPayTime']}",
        default => 'a type that is not known here',
    };
}

function answer(int $status, string $code): bool
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode(['code' => $code]);
    return true;
}

function say(string $line): void
{
    file_put_contents('php://stdout', "$line\n");
}
