#!/usr/bin/env python3
"""Sells a subscription in each of the three ways, queries them, and ends one.

    python3 examples/python/sell.py [path to demo-channel.json]
"""

import random
import sys
import uuid

from perennial import Channel, PerennialError, UnreadableChannel


def sell(channel):
    run = uuid.uuid4().hex[:12]
    user = f"user-{run}"  # a new user each time: a user's mobile never changes within a channel
    mobile = f"1{random.randrange(10**10):010}"
    card = {
        "bankCardNoEncrypted": channel.encrypt("6222020000001234567"),
        "certificateNoEncrypted": channel.encrypt("110101199001011234"),
        "realNameEncrypted": channel.encrypt("张三"),
        "bankMobileEncrypted": channel.encrypt("13800000001"),
    }

    products = channel.call("products/list", {})["items"]
    show("products", " ".join(product["productCode"] for product in products))
    product_code = products[0]["productCode"]

    # A.1: the user binds a card with the code that the bank sends, and the service debits it.
    sent = channel.call(
        "agreements/bind-sms", {"channelUserId": user, "mobileEncrypted": channel.encrypt(mobile), **card}
    )
    bind_order_no = sent["bindOrderNo"]
    channel.call(
        "agreements/bind-confirm", {"bindOrderNo": bind_order_no, "smsCodeEncrypted": channel.encrypt("123456")}
    )
    bound = channel.call(
        "orders/create",
        {
            "settlementMode": "SVC_DEDUCT",
            "externalOrderNo": f"own-{run}",
            "productCode": product_code,
            "bindOrderNo": bind_order_no,
        },
    )
    show_order("A.1", bound)

    # A.2: the channel shares its own agreement, and the service debits it.
    shared = channel.call(
        "orders/create",
        {
            "settlementMode": "SVC_DEDUCT",
            "externalOrderNo": f"shared-{run}",
            "productCode": product_code,
            "channelUserId": user,
            "mobileEncrypted": channel.encrypt(mobile),
            "sharedAgreement": {
                "paymentChannelCode": "MOCKPAY",
                "sharedAgreementNo": f"agreement-{run}",
                "channelUserId": user,
                **card,
            },
        },
    )
    show_order("A.2", shared)

    # B: the channel collects the money, and the service bills. The same body with the same key is the same order.
    collected = {
        "settlementMode": "CHANNEL_COLLECT",
        "externalOrderNo": f"collected-{run}",
        "productCode": product_code,
        "channelUserId": user,
        "mobileEncrypted": channel.encrypt(mobile),
    }
    key = str(uuid.uuid4())
    show_order("B", channel.call("orders/create", collected, idempotency_key=key))
    show_order("again", channel.call("orders/create", collected, idempotency_key=key))

    show_order("query", channel.call("orders/query", {"externalOrderNo": f"shared-{run}"}))
    show("list", f"{len(channel.call('orders/list', {'channelUserId': user})['orders'])} orders")
    payment_order_no = bound["paymentRecords"][0]["paymentOrderNo"]
    period = channel.call("payments/query", {"paymentOrderNo": payment_order_no})
    show("period", f"{payment_order_no} {period['paymentStatus']}")
    cards = channel.call("agreements/user-data", {"channelUserId": user})["bankDataList"]
    show("card", f"ends in {channel.decrypt(cards[0]['bankCardNoEncrypted'])[-4:]}")
    show_order("ended", channel.call("orders/unsubscribe", {"orderNo": bound["orderNo"], "reason": "too expensive"}))


def show(name, text):
    print(f"{name:<10} {text}", flush=True)


def show_order(name, order):
    show(name, f"{order['orderNo']} {order['orderStatus']}, period 1 {order['paymentRecords'][0]['paymentStatus']}")


if __name__ == "__main__":
    try:
        sell(Channel.read(*sys.argv[1:2]))
    except (PerennialError, UnreadableChannel, ImportError) as reason:
        sys.exit(f"sell: {reason}")
