#!/bin/sh
# First signed calls to the service: a token, then the products of the channel. Needs openssl and curl.
#
#   sh examples/first-call.sh [path to demo-channel.json]
#
# openssl gets the key as an argument, which other users of the machine can see: use this for trying things out only.
set -eu

stop() {
  echo "first-call: $1" >&2
  exit 1
}

for tool in openssl curl; do
  command -v "$tool" >/dev/null || stop "$tool is needed and not installed"
done

file=${1:-${DATA_DIR:-data}/demo-channel.json}
[ -r "$file" ] || stop "$file cannot be read: npm start writes it; set DATA_DIR, or name the file"

# Prints one string field of the JSON on standard input.
field() {
  sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p"
}

app_id=$(field appId <"$file")
base_url=$(field baseUrl <"$file")
# appSecret is base64 of 32 bytes; openssl takes the bytes as hex.
key=$(field appSecret <"$file" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
[ ${#key} -eq 64 ] || stop "$file holds no appSecret of 32 bytes"

# call ENDPOINT BODY [TOKEN]: signs and sends one request, shows both sides of it, and leaves the answer in $answer.
call() {
  path=/openapi/v1/$1
  timestamp=$(date +%s)000
  nonce=$(openssl rand -hex 16)
  request_id=$(openssl rand -hex 16)

  # Seven lines; the third is the query string, which is empty. The digest covers the bytes sent.
  digest=$(printf '%s' "$2" | openssl dgst -sha256 -r | cut -c1-64)
  sign_text=$(printf '%s\n' POST "$path" '' "$digest" "$timestamp" "$nonce" "$request_id")
  signature=$(printf '%s' "$sign_text" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)

  printf 'POST %s%s\n%s\n\nSigned text\n' "$base_url" "$path" "$2"
  printf '%s\n' "$sign_text" | sed 's/^$/(empty)/; s/^/  /'
  printf 'Signature\n  %s\n\n' "$signature"

  answer=$(curl --silent --max-time 15 --write-out '\n%{http_code}' "$base_url$path" \
    --header 'Content-Type: application/json;charset=UTF-8' \
    --header "X-SVC-App-Id: $app_id" \
    --header "X-SVC-Timestamp: $timestamp" \
    --header "X-SVC-Nonce: $nonce" \
    --header "X-SVC-Request-Id: $request_id" \
    --header "X-SVC-Signature: $signature" \
    ${3:+--header "Authorization: Bearer $3"} \
    --data-binary "$2") || stop "nothing answers at $base_url: start the service with npm start"
  status=${answer##*
}
  answer=${answer%
*}

  printf 'Answer, HTTP %s\n  ' "$status"
  printf '%s\n\n' "$answer" | sed 's/\("accessToken":"........\)[^"]*/\1.../'
  code=$(printf '%s' "$answer" | field code)
  [ "$code" = 0 ] || stop "$1 was refused: $code"
}

call auth/token "{\"grantType\":\"client_credentials\",\"appId\":\"$app_id\"}"
token=$(printf '%s' "$answer" | field accessToken)

call products/list '{}' "$token"
echo 'Products of this channel:'
printf '%s' "$answer" | tr '{' '\n' | field productCode | sed 's/^/  /'
