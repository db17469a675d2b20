#!/bin/sh
# Sells a subscription in each of the three ways, queries them, and ends one.
#
#   sh examples/sh/sell.sh [path to demo-channel.json]
set -eu
# shellcheck source=examples/sh/perennial.sh
. "$(dirname "$0")/perennial.sh"

show() {
  printf '%-10s %s\n' "$1" "$2"
}

# of NAME: prints a field of the last answer.
of() {
  printf '%s' "$answer" | field "$1"
}

show_order() {
  show "$1" "$(of orderNo) $(of orderStatus), period 1 $(of paymentStatus)"
}

sealed() {
  printf '%s' "$1" | encrypt "$aes_key"
}

read_channel "${1:-}"
run=$(openssl rand -hex 6)
user=user-$run # a new user each time: a user's mobile never changes within a channel
mobile=$(sealed "$(printf '1%010d' "$(od -An -N4 -tu4 /dev/urandom)")")
card=$(
  printf '"channelUserId":"%s","bankCardNoEncrypted":"%s","certificateNoEncrypted":"%s",' \
    "$user" "$(sealed 6222020000001234567)" "$(sealed 110101199001011234)"
  printf '"realNameEncrypted":"%s","bankMobileEncrypted":"%s"' "$(sealed 张三)" "$(sealed 13800000001)"
)

call products/list
product=$(of productCode)
show products "$(printf '%s' "$answer" | fields productCode | paste -s -d ' ' -)"

# A.1: the user binds a card with the code that the bank sends, and the service debits it.
call agreements/bind-sms "{$card,\"mobileEncrypted\":\"$mobile\"}"
bind_order_no=$(of bindOrderNo)
call agreements/bind-confirm "{\"bindOrderNo\":\"$bind_order_no\",\"smsCodeEncrypted\":\"$(sealed 123456)\"}"
deducted="\"settlementMode\":\"SVC_DEDUCT\",\"productCode\":\"$product\""
call orders/create "{$deducted,\"externalOrderNo\":\"own-$run\",\"bindOrderNo\":\"$bind_order_no\"}"
own=$(of orderNo)
period=$(of paymentOrderNo)
show_order A.1

# A.2: the channel shares its own agreement, and the service debits it.
agreement="{$card,\"paymentChannelCode\":\"MOCKPAY\",\"sharedAgreementNo\":\"agreement-$run\"}"
of_user="\"channelUserId\":\"$user\",\"mobileEncrypted\":\"$mobile\""
call orders/create "{$deducted,\"externalOrderNo\":\"shared-$run\",$of_user,\"sharedAgreement\":$agreement}"
show_order A.2

# B: the channel collects the money, and the service bills. The same body with the same key is the same order.
collected="\"settlementMode\":\"CHANNEL_COLLECT\",\"productCode\":\"$product\""
collected="{$collected,\"externalOrderNo\":\"collected-$run\",$of_user}"
key=$(openssl rand -hex 16)
call orders/create "$collected" "$key"
show_order B
call orders/create "$collected" "$key"
show_order again

call orders/query "{\"externalOrderNo\":\"shared-$run\"}"
show_order query
call orders/list "{\"channelUserId\":\"$user\"}"
show list "$(printf '%s' "$answer" | fields orderStatus | grep -c .) orders"
call payments/query "{\"paymentOrderNo\":\"$period\"}"
show period "$period $(of paymentStatus)"
# A request with encrypted fields is answered in the same version.
call agreements/user-data "{\"channelUserId\":\"$user\",\"bankCardNoEncrypted\":\"$(sealed 6222020000001234567)\"}"
temporary_file
decrypt "$aes_key" "$(of bankCardNoEncrypted)" "$file" || stop 'the card cannot be decrypted'
show card "ends in $(tail -c 4 "$file")"
call orders/unsubscribe "{\"orderNo\":\"$own\",\"reason\":\"too expensive\"}"
show_order ended
