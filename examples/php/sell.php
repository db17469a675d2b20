<?php

// Sells a subscription in each of the three ways, queries them, and ends one.
//
//   php examples/php/sell.php [path to demo-channel.json]

declare(strict_types=1);

require __DIR__ . '/Perennial.php';

function sell(Perennial $channel): void
{
    $run = bin2hex(random_bytes(6));
    $user = "user-$run"; // a new user each time: a user's mobile never changes within a channel
    $mobile = sprintf('1%010d', random_int(0, 9_999_999_999));
    $card = [
        'channelUserId' => $user,
        'bankCardNoEncrypted' => $channel->encrypt('6222020000001234567'),
        'certificateNoEncrypted' => $channel->encrypt('110101199001011234'),
        'realNameEncrypted' => $channel->encrypt('张三'),
        'bankMobileEncrypted' => $channel->encrypt('13800000001'),
    ];

    $codes = array_column($channel->call('products/list', [])['items'], 'productCode');
    show('products', implode(' ', $codes));

    // A.1: the user binds a card with the code that the bank sends, and the service debits it.
    $sent = $channel->call('agreements/bind-sms', [...$card, 'mobileEncrypted' => $channel->encrypt($mobile)]);
    $channel->call('agreements/bind-confirm', [
        'bindOrderNo' => $sent['bindOrderNo'],
        'smsCodeEncrypted' => $channel->encrypt('123456'),
    ]);
    $own = $channel->call('orders/create', [
        'settlementMode' => 'SVC_DEDUCT',
        'externalOrderNo' => "own-$run",
        'productCode' => $codes[0],
        'bindOrderNo' => $sent['bindOrderNo'],
    ]);
    showOrder('A.1', $own);

    // A.2: the channel shares its own agreement, and the service debits it.
    showOrder('A.2', $channel->call('orders/create', [
        'settlementMode' => 'SVC_DEDUCT',
        'externalOrderNo' => "shared-$run",
        'productCode' => $codes[0],
        'channelUserId' => $user,
        'mobileEncrypted' => $channel->encrypt($mobile),
        'sharedAgreement' => [
            ...$card,
            'paymentChannelCode' => 'MOCKPAY',
            'sharedAgreementNo' => "agreement-$run",
        ],
    ]));

    // B: the channel collects the money, and the service bills. The same body with the same key is the same order.
    $collected = [
        'settlementMode' => 'CHANNEL_COLLECT',
        'externalOrderNo' => "collected-$run",
        'productCode' => $codes[0],
        'channelUserId' => $user,
        'mobileEncrypted' => $channel->encrypt($mobile),
    ];
    $key = Perennial::newKey();
    showOrder('B', $channel->call('orders/create', $collected, $key));
    showOrder('again', $channel->call('orders/create', $collected, $key));

    showOrder('query', $channel->call('orders/query', ['externalOrderNo' => "shared-$run"]));
    show('list', count($channel->call('orders/list', ['channelUserId' => $user])['orders']) . ' orders');
    $paymentOrderNo = $own['paymentRecords'][0]['paymentOrderNo'];
    $period = $channel->call('payments/query', ['paymentOrderNo' => $paymentOrderNo]);
    show('period', "$paymentOrderNo {$period['paymentStatus']}");
    $cards = $channel->call('agreements/user-data', ['channelUserId' => $user])['bankDataList'];
    show('card', 'ends in ' . substr($channel->decrypt($cards[0]['bankCardNoEncrypted']), -4));
    $ending = ['orderNo' => $own['orderNo'], 'reason' => 'too expensive'];
    showOrder('ended', $channel->call('orders/unsubscribe', $ending));
}

function show(string $name, string $text): void
{
    echo str_pad($name, 10), " $text\n";
}

function showOrder(string $name, array $order): void
{
    show($name, "{$order['orderNo']} {$order['orderStatus']}, period 1 {$order['paymentRecords'][0]['paymentStatus']}");
}

try {
    sell(Perennial::read($argv[1] ?? (getenv('DATA_DIR') ?: 'data') . '/demo-channel.json'));
} catch (PerennialException | InvalidArgumentException $reason) {
    fwrite(STDERR, "sell: {$reason->getMessage()}\n");
    exit(1);
}
