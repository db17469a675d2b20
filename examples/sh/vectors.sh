#!/bin/sh
# Proves perennial.sh against the known answers.
#
#   sh examples/sh/vectors.sh [folder of the vectors]
set -eu
here=$(dirname "$0")
# shellcheck source=examples/sh/perennial.sh
. "$here/perennial.sh"

folder=${1:-$here/../../packages/wire/vectors}
wrong=''
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() {
  [ "$2" = "$3" ] || wrong="$wrong; $1"
}

# cases FILE LIST FUNCTION: calls the function for each case of a list, with the case's fields in variables of the same
# names. In these files each field is on its own line, and so are the ends of cases and lists.
cases() {
  count=0 inside=no
  while IFS= read -r line; do
    case $line in
      "  \"$2\": ["*) inside=yes ;;
      '  ]'*) inside=no ;;
      '    {'*) name='' query='' ;;
      '    }'*) [ $inside = no ] || { count=$((count + 1)) && "$3"; } ;;
      '      "'*)
        [ $inside = yes ] || continue
        line=${line#*\"} key=${line%%\"*} value=${line#*\": } value=${value%,}
        value=${value#\"} value=${value%\"}
        case $key in
          name | path | query | bodyHex | timestamp | nonce | requestId | eventId | signature) eval "$key=\$value" ;;
          text | ivHex | value | host | orderNo | appId | channelUserId | exp | url) eval "$key=\$value" ;;
        esac
        ;;
    esac
  done <"$1"
  total=$((total + count))
}

# Prints the bytes of a JSON string: printf knows its escapes except \u0000.
unescape() {
  printf '%b' "$(printf '%s' "$1" | sed 's/\\u0000/\\0000/g')"
}

a_request() {
  check "$name" "$(from_hex "$bodyHex" | sign "$secret" "$path" "$query" "$timestamp" "$nonce" "$requestId")" "$signature"
}

an_event() {
  HTTP_X_SVC_TIMESTAMP=$timestamp HTTP_X_SVC_NONCE=$nonce HTTP_X_SVC_EVENT_ID=$eventId HTTP_X_SVC_SIGNATURE=$signature
  sent=$((timestamp / 1000))
  from_hex "$bodyHex" >"$work/body"
  is "$name" 0 "$path" $((sent + 300))
  is "$name: too old" 1 "$path" $((sent + 301))
  is "$name: another path" 1 "${path}x" "$sent"
  printf ' ' >>"$work/body"
  is "$name: another body" 1 "$path" "$sent"
}

is() {
  result=0
  verify "$secret" "$3" "$work/body" "$4" || result=$?
  check "$1" "$result" "$2"
}

a_good_field() {
  check "$name" "$(unescape "$text" | encrypt "$secret" "$ivHex")" "$value"
  decrypt "$secret" "$value" "$work/text" || wrong="$wrong; $name: decrypted"
  check "$name: decrypted" "$(to_hex <"$work/text")" "$(unescape "$text" | to_hex)"
}

# The dot after a line break keeps it: $( ) would remove it.
a_bad_field() {
  broken=$(unescape "$value" && printf .)
  ! decrypt "$secret" "${broken%.}" "$work/text" || wrong="$wrong; $name must be refused"
}

a_link() {
  check "$name" "$(redeem_link "$secret" "$host" "$orderNo" "$appId" "$channelUserId" "$exp")" "$url"
}

# prove FILE SECRET LIST FUNCTION [LIST FUNCTION]
prove() {
  vectors=$folder/$1.json
  secret=$(field "$2" <"$vectors")
  total=0
  cases "$vectors" "$3" "$4"
  [ $# -lt 6 ] || cases "$vectors" "$5" "$6"
  printf '%-20s %d cases\n' "$1" "$total"
  [ "$total" -gt 0 ] || wrong="$wrong; $1 has no cases"
}

prove request-signature appSecret cases a_request
prove webhook-signature callbackSecret cases an_event
prove encrypted-fields aesKey good a_good_field bad a_bad_field
# It refuses all values of the version that it cannot read.
prove encrypted-fields-v2 aesKey good a_bad_field bad a_bad_field
check 'the key of v2' "$(printf svc_aes_v2 | mac "$secret" | to_hex)" "$(field derivedKeyHex <"$vectors")"
prove redeem-link callbackSecret cases a_link
[ -z "$wrong" ] || stop "wrong: ${wrong#; }"
