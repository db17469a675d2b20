#!/bin/sh
# Receives an event as a CGI program, behind any web server that has CGI: the headers are in the environment, the body on
# standard input, and the answer goes to standard output. Events are printed on standard error.
#
#   PERENNIAL_CHANNEL=data/demo-channel.json REQUEST_METHOD=POST REQUEST_URI=/events \
#     HTTP_X_SVC_TIMESTAMP=... HTTP_X_SVC_NONCE=... HTTP_X_SVC_EVENT_ID=... HTTP_X_SVC_SIGNATURE=... \
#     sh examples/sh/receive.sh <body
set -eu
# shellcheck source=examples/sh/perennial.sh
. "$(dirname "$0")/perennial.sh"

MAX_BODY=1048576

say() {
  printf '%s\n' "$1" >&2
}

reply() {
  printf 'Status: %s\r\nContent-Type: application/json\r\n\r\n{"code":"%s"}' "$1" "$2"
  exit 0
}

read_channel "${PERENNIAL_CHANNEL:-}"
[ "${REQUEST_METHOD:-POST}" = POST ] || reply '404 Not Found' not-found
temporary_file
head -c $((MAX_BODY + 1)) >"$file"
[ "$(wc -c <"$file")" -le "$MAX_BODY" ] || reply '400 Bad Request' length
if ! verify "$callback_secret" "${REQUEST_URI:-/events}" "$file" "$(date +%s)"; then
  say 'refused: not signed by the service, or too old'
  reply '401 Unauthorized' signature
fi

of() {
  field "$1" <"$file"
}

# In production store ids for 30 days in the database, in the transaction of the event's changes. Creating a folder
# succeeds for only one of several concurrent requests.
event_id=$HTTP_X_SVC_EVENT_ID
mkdir -p "$channel_file.events"
if ! mkdir "$channel_file.events/$(printf '%s' "$event_id" | to_hex)" 2>/dev/null; then
  say "again     $event_id, retryNo $(of retryNo): it was dealt with"
  reply '200 OK' 0
fi
event_type=$(of eventType)
case $event_type in
  order.status.changed) what="order $(of orderNo)  $(of orderStatus)" ;;
  payment.status.changed) what="order $(of orderNo)  period $(of cycleNo) $(of paymentStatus)" ;;
  # In production notify the user, with redeemUrl for unsubscribing before the debit, unless this came too late.
  payment.upcoming) what="order $(of orderNo)  period $(of cycleNo) is due $(of expectPayTime)" ;;
  # Unknown types are acknowledged too, because later versions may add some.
  *) what='a type that is not known here' ;;
esac
say "event     $event_id  $(of occurredAt)  $event_type  $what"
reply '200 OK' 0 # within 5 s: longer work is done afterwards
