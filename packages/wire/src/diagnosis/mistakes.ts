/** The possible mistakes in signing, each with its hint. `unknown` is never combined with other mistakes. */
const HINTS = {
  'secret-not-decoded': 'Decode the appSecret from base64 and sign with its 32 bytes.',
  'secret-of-callback':
    'You signed with the callbackSecret. Sign requests with the appSecret; the service signs with the callbackSecret.',
  'secret-of-encryption':
    'You signed with the aesKey. Sign requests with the appSecret; the aesKey is for fields whose names end in Encrypted.',
  'secret-before-reset':
    'You signed with the appSecret from before the last reset. Use the secret that the reset showed.',
  'hmac-missing':
    'You sent a SHA-256 without HMAC. Send the HMAC-SHA256 of the seven lines, with the decoded appSecret as its key.',
  'hmac-swapped':
    'You used the seven lines as the key and the appSecret as the text. Swap the two arguments of your HMAC function.',
  'signature-hex': 'You sent the HMAC in hex. Send its 32 bytes in base64: 44 characters, the last of which is =.',
  'signature-base64url':
    'You sent the HMAC in base64url. Use the standard alphabet with + and /, and keep the = at the end.',
  'signature-base64-of-hex':
    'You encoded the hex text of the HMAC in base64. Encode its 32 bytes: ask your library for bytes, not for hex.',
  'body-serialised-again':
    'You hashed a body that differs from the one you sent. Serialise it once, hash those bytes, and send the same bytes.',
  'body-not-hashed':
    'You put the body itself into the fourth line. Put the SHA-256 of its bytes there, in lower-case hex.',
  'digest-upper-case': 'You wrote the SHA-256 of the body in capitals. Write it in lower-case hex.',
  'lines-in-other-order':
    'You signed the lines in another order. It is: method, path, query, SHA-256 of the body, timestamp, nonce, request id.',
  'empty-line-missing':
    'You left out the third line, the query. Without a query it is an empty line between path and body.',
  crlf: 'You joined the lines with CR LF. Join them with LF alone, on every system.',
  'trailing-newline': 'You signed a newline after the last line. Join the seven lines with six newlines.',
  'path-with-host': 'You signed the address with its host. Sign the path alone, from its first slash on.',
  'path-without-prefix': 'You signed the path without its beginning. Sign it as it is sent, with /openapi/v1 in front.',
  'path-with-slash': 'You signed the path with a slash at its end. Sign it as it is sent, without.',
  'timestamp-in-seconds': 'Your timestamp is in seconds. Use Unix milliseconds, the same ones in header and text.',
  'other-timestamp':
    'You signed a timestamp that differs from the one you sent. Take the time once for each request, and use it in header and text.',
  'other-nonce':
    'You signed a nonce that differs from the one you sent. Generate one nonce for each request, and use it in header and text.',
  'other-request-id':
    'You signed a request id that differs from the one you sent. Generate one for each request, and use it in header and text.',
  unknown:
    'No known mistake results in this signature. Compare the seven lines with yours: the hash of the body first, then the timestamp, nonce and request id of the headers; then check that the appSecret belongs to this app id.',
} as const;

export type Mistake = keyof typeof HINTS;

/** A mistake that was found, and a hint how to correct it. */
export interface Finding {
  readonly mistake: Mistake;
  readonly hint: string;
}

/** All mistakes, with `unknown` last. A diagnosis may give a more precise hint for a mistake. */
export const MISTAKES: readonly Finding[] = Object.entries(HINTS).map(([mistake, hint]) => ({
  mistake: mistake as Mistake,
  hint,
}));

export function finding(mistake: Mistake, hint: string = HINTS[mistake]): Finding {
  return { mistake, hint };
}
