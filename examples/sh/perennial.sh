#!/bin/sh
# A channel's client for Perennial. Needs a POSIX shell, openssl and curl.
#
#   ./perennial.sh orders/query '{"orderNo":"100000001000"}'   prints the answer; status 1 if it is refused
#   printf %s 13800000001 | ./perennial.sh encrypt             the value of a field whose name ends in Encrypted
#   ./perennial.sh decrypt svc_aes_v1:...                      and back
#   ./perennial.sh verify /events <body                        status 0 if an event is authentic; its headers
#                                                              are in HTTP_X_SVC_TIMESTAMP and so on, as in CGI
#
# PERENNIAL_CHANNEL names the file with the credentials, by default demo-channel.json in DATA_DIR or data; IDEMPOTENCY_KEY the key of a write
# to retry. Other scripts may source this one and use its functions.
#
# Fields are encrypted in svc_aes_v1, because openssl's command has no AES-GCM. It takes the key as an argument, which other
# users of the machine can see: encrypt and decrypt only where there are none. Other secrets and the token are never arguments.
set -eu

TRIES_AFTER='1 3 9'
MAX_EVENT_AGE=300

stop() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 1
}

# fields NAME: prints every string and number of that name in the JSON on standard input, one per line. This is enough for
# the service's answers; use jq if your project has it.
fields() {
  awk -v name="$1" '
    { text = text $0 " " }
    END {
      while (match(text, "\"" name "\" *: *(\"[^\"]*\"|[0-9]+)")) {
        value = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        sub(/^"[^"]*" *: *"?/, "", value)
        sub(/"$/, "", value)
        print value
      }
    }'
}

field() {
  fields "$1" | sed -n 1p
}

read_channel() {
  channel_file=${1:-${DATA_DIR:-data}/demo-channel.json}
  [ -r "$channel_file" ] ||
    stop "$channel_file cannot be read: npm start writes it; set DATA_DIR, or name the file"
  base_url=$(field baseUrl <"$channel_file")
  app_id=$(field appId <"$channel_file")
  app_secret=$(field appSecret <"$channel_file")
  aes_key=$(field aesKey <"$channel_file")
  callback_secret=$(field callbackSecret <"$channel_file")
  # Only you can read it, like the secrets beside it.
  token_file=$channel_file.token
}

# mac SECRET: prints HMAC-SHA256 of standard input, in binary. Uses two digests, because openssl would take the key as
# an argument.
mac() {
  key=$(decode "$1" | to_hex)
  [ ${#key} -eq 64 ] || stop 'a secret of the channel is not 32 bytes in base64'
  key=${key}0000000000000000000000000000000000000000000000000000000000000000
  { from_hex "$key" 54 && cat; } | openssl dgst -sha256 -binary |
    { from_hex "$key" 92 && cat; } | openssl dgst -sha256 -binary
}

# sign SECRET PATH QUERY TIMESTAMP NONCE REQUEST_ID: prints the signature of the body on standard input. For an event,
# the last is the event id.
sign() {
  digest=$(openssl dgst -sha256 -r | cut -c1-64)
  printf '%s\n%s\n%s\n%s\n%s\n%s\n%s' POST "$2" "$3" "$digest" "$4" "$5" "$6" | mac "$1" | openssl base64 -A
}

# verify SECRET PATH BODY_FILE NOW: succeeds if an event, with its headers as in CGI, is authentic and was sent within 5
# minutes.
verify() {
  timestamp=${HTTP_X_SVC_TIMESTAMP:-}
  expected=$(sign "$1" "$2" '' "$timestamp" "${HTTP_X_SVC_NONCE:-}" "${HTTP_X_SVC_EVENT_ID:-}" <"$3")
  # Compares keyed digests, so that the duration reveals nothing.
  blind=$(openssl rand -hex 32)
  [ "$(printf '%s' "$blind$expected" | openssl dgst -sha256 -r)" = \
    "$(printf '%s' "$blind${HTTP_X_SVC_SIGNATURE:-}" | openssl dgst -sha256 -r)" ] || return 1
  case $timestamp in '' | *[!0-9]*) return 1 ;; esac
  age=$(($4 - timestamp / 1000))
  [ "$age" -le "$MAX_EVENT_AGE" ] && [ "$age" -ge "-$MAX_EVENT_AGE" ]
}

# region Encrypted fields
to_hex() {
  od -An -v -tx1 | tr -d ' \n'
}

decode() {
  printf '%s' "$1" | openssl base64 -d -A 2>/dev/null
}

# from_hex HEX [MASK]: prints the bytes, each XORed with the mask.
from_hex() {
  rest=$1 format=''
  while [ -n "$rest" ]; do
    byte=$((0x${rest%"${rest#??}"} ^ ${2:-0}))
    format=$format\\$((byte / 64))$((byte / 8 % 8))$((byte % 8))
    rest=${rest#??}
  done
  # shellcheck disable=SC2059
  printf "$format"
}

# encrypt KEY [IV]: prints the text on standard input in svc_aes_v1. The IV, in hex, is for known answers: never use one
# twice.
encrypt() {
  iv=${2:-$(openssl rand -hex 16)}
  key=$(decode "$1" | to_hex)
  printf 'svc_aes_v1:'
  { from_hex "$iv" && openssl enc -aes-256-cbc -K "$key" -iv "$iv"; } | openssl base64 -A
}

# decrypt KEY VALUE FILE: writes the text of a value in svc_aes_v1 to a file, because a variable cannot hold every text.
decrypt() {
  case $2 in svc_aes_v1:*) encoded=${2#svc_aes_v1:} ;; *) return 1 ;; esac
  # Base64 must be canonical, with whole blocks after the IV.
  [ "$(decode "$encoded" | openssl base64 -A)" = "$encoded" ] || return 1
  size=$(decode "$encoded" | wc -c)
  [ "$size" -ge 32 ] && [ $((size % 16)) -eq 0 ] || return 1
  iv=$(decode "$encoded" | head -c 16 | to_hex)
  key=$(decode "$1" | to_hex)
  decode "$encoded" | tail -c +17 | openssl enc -d -aes-256-cbc -K "$key" -iv "$iv" >"$3" 2>/dev/null || return 1
  iconv -f UTF-8 -t UTF-16 <"$3" >/dev/null 2>&1
}
# endregion

# redeem_link SECRET HOST ORDER_NO APP_ID CHANNEL_USER_ID EXP: prints a link to the redemption page, as the service
# creates it.
redeem_link() {
  nothing=$(printf '' | openssl dgst -sha256 -r | cut -c1-64)
  sig=$(printf '%s\n%s\n\n%s\n%s\n%s\n%s\n%s' GET /redeem "$nothing" "$6" "$4" "$5" "$3" |
    mac "$1" | openssl base64 -A | tr '+/' '-_' | tr -d '=')
  printf '%s/redeem?orderNo=%s&appId=%s&channelUserId=%s&exp=%s&sig=%s' \
    "$2" "$(escape "$3")" "$(escape "$4")" "$(escape "$5")" "$6" "$sig"
}

# Prints everything but letters, digits and -_.~ as %XX.
escape() {
  for byte in $(printf '%s' "$1" | od -An -v -tx1); do
    case $byte in
      2d | 2e | 3[0-9] | 4[1-9a-f] | 5[0-9af] | 6[1-9a-f] | 7[0-9ae]) from_hex "$byte" ;;
      *) printf '%%%s' "$byte" | tr a-f A-F ;;
    esac
  done
}

# post ENDPOINT BODY KEY TOKEN: makes one attempt. Sets $status (0: no answer), $retry_after and $answer.
post() {
  timestamp=$(date +%s)000
  nonce=$(openssl rand -hex 16)
  request_id=$(openssl rand -hex 16)
  signature=$(printf '%s' "$2" | sign "$app_secret" "/openapi/v1/$1" '' "$timestamp" "$nonce" "$request_id")
  # curl reads the headers from standard input, so that the token is not an argument.
  answer=$(
    curl --silent --connect-timeout 5 --max-time 20 --header @- --data-raw "$2" \
      --write-out '\n%{http_code} %header{retry-after}' "$base_url/openapi/v1/$1" <<HEADERS
Content-Type: application/json;charset=UTF-8
X-SVC-App-Id: $app_id
X-SVC-Timestamp: $timestamp
X-SVC-Nonce: $nonce
X-SVC-Request-Id: $request_id
X-SVC-Signature: $signature
Idempotency-Key: $3
${4:+Authorization: Bearer $4}
HEADERS
  ) || { status=0 retry_after='' answer='' && return; }
  status=${answer##*
}
  answer=${answer%
*}
  retry_after=${status#* }
  status=${status%% *}
}

# send ENDPOINT BODY KEY TOKEN: retries with the same body and key, and signs each attempt again. Sets $answer and
# $code.
send() {
  for wait in $TRIES_AFTER ''; do
    post "$@"
    code=$(printf '%s' "$answer" | field code)
    [ -n "$wait" ] && { [ "$status" -eq 0 ] || [ "$status" -eq 429 ] || [ "$status" -ge 500 ]; } || break
    case $status:$retry_after in 429:[0-9]*) wait=$retry_after ;; esac
    sleep "$wait"
  done
  [ -n "$code" ] || stop "$1 was refused: NO_ANSWER nothing answers at $base_url (request $request_id)"
}

# get_token: sets $token, valid for at least another minute, and keeps it in a file between calls.
get_token() {
  token='' token_ends=0
  [ ! -r "$token_file" ] || read -r token_ends token <"$token_file"
  [ "$(date +%s)" -ge "$token_ends" ] || return 0
  send auth/token "{\"grantType\":\"client_credentials\",\"appId\":\"$app_id\"}" "$(openssl rand -hex 16)" ''
  [ "$code" = 0 ] || refuse auth/token
  token=$(printf '%s' "$answer" | field accessToken)
  token_ends=$(($(date +%s) + $(printf '%s' "$answer" | field expiresIn) - 60))
  (umask 077 && rm -f "$token_file" && printf '%s %s\n' "$token_ends" "$token" >"$token_file") || :
}

# call ENDPOINT [BODY [KEY]]: sets $answer to the whole answer.
call() {
  body=${2:-'{}'}
  idempotency_key=${3:-${IDEMPOTENCY_KEY:-$(openssl rand -hex 16)}}
  get_token
  send "$1" "$body" "$idempotency_key" "$token"
  case $code in
    401005 | 401006)
      rm -f "$token_file"
      get_token
      send "$1" "$body" "$idempotency_key" "$token"
      ;;
  esac
  [ "$code" = 0 ] || refuse "$1"
}

refuse() {
  message=$(printf '%s' "$answer" | field message)
  stop "$1 was refused: $code $message (request $(printf '%s' "$answer" | field requestId))"
}

temporary_file() {
  file=$(mktemp)
  trap 'rm -f "$file"' EXIT
}

main() {
  for tool in openssl curl; do
    command -v "$tool" >/dev/null || stop "$tool is needed and not installed"
  done
  [ $# -gt 0 ] || stop 'which endpoint, or encrypt, decrypt, verify?'
  read_channel "${PERENNIAL_CHANNEL:-}"
  case $1 in
    encrypt) encrypt "$aes_key" && echo ;;
    decrypt)
      temporary_file
      decrypt "$aes_key" "${2:-}" "$file" || stop 'the value cannot be decrypted'
      cat "$file"
      ;;
    verify)
      temporary_file
      cat >"$file"
      verify "$callback_secret" "${2:-/events}" "$file" "$(date +%s)"
      ;;
    *)
      call "$@"
      printf '%s\n' "$answer"
      ;;
  esac
}

case ${0##*/} in perennial.sh) main "$@" ;; esac
