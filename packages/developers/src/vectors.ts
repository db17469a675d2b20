/** What each file of known answers is for. */
export const VECTOR_TEXTS: Readonly<Record<string, string>> = {
  'request-signature':
    'Signatures of requests under an appSecret: the body in hex, the text to sign, and the signature.',
  'webhook-signature': 'Signatures of events under a callbackSecret, as a receiver has to check them.',
  'encrypted-fields-v2':
    'Encrypted fields in the form svc_aes_v2, with the key that is derived, the IV and what must be refused.',
  'encrypted-fields': 'Encrypted fields in the form svc_aes_v1, with the IV and what must be refused.',
  'redeem-link': 'Signatures of redemption links under a callbackSecret.',
  time: 'Times in UTC+8 as answers write them, and the forms in which requests may have them.',
};

/** All of them in one document; each is as its file has it. */
export function gatherVectors(files: Readonly<Record<string, unknown>>): object {
  const names = [...Object.keys(VECTOR_TEXTS), ...Object.keys(files).filter((name) => !(name in VECTOR_TEXTS))];
  return {
    description:
      'Known answers for clients in any language, worked out by a program that shares nothing with the service. The keys are published and belong to nobody.',
    vectors: Object.fromEntries(
      names.map((name) => [name, { description: VECTOR_TEXTS[name] ?? '', content: files[name] }]),
    ),
  };
}
