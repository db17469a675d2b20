/** Descriptions of the test vectors, by file name. */
export const VECTOR_TEXTS: Readonly<Record<string, string>> = {
  'request-signature':
    'Signatures of requests under an appSecret: the body in hex, the text to sign, and the signature.',
  'webhook-signature': 'Signatures of events under a callbackSecret, as a receiver must verify them.',
  'encrypted-fields-v2':
    'Encrypted fields in svc_aes_v2, with the derived key and the IV, and values that must be refused.',
  'encrypted-fields': 'Encrypted fields in svc_aes_v1, with the IV, and values that must be refused.',
  'redeem-link': 'Signatures of redemption links under a callbackSecret.',
  time: 'Times in UTC+8 in the format of answers, and the formats that requests may use.',
};

/** Joins all test vectors in one document. Does not change their content. */
export function gatherVectors(files: Readonly<Record<string, unknown>>): object {
  const names = [...Object.keys(VECTOR_TEXTS), ...Object.keys(files).filter((name) => !(name in VECTOR_TEXTS))];
  return {
    description:
      'Expected results for clients in any language, computed by a program that shares no code with the service. The keys are published, and no channel uses them.',
    vectors: Object.fromEntries(
      names.map((name) => [name, { description: VECTOR_TEXTS[name] ?? '', content: files[name] }]),
    ),
  };
}
