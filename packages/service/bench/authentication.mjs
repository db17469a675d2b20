import { HEADERS, sha256Hex, signRequest, verifySignature } from '@perennial/wire';
import { createAccessTokens } from '../dist/catalog/channels/access-token.js';
import { signedRequest } from './signed.mjs';
import { median } from './table.mjs';

/** Measures parts of authentication that need no database, each alone in this process, in µs of CPU per request. */
export function authenticationAlone({ row, channel, vault }) {
  const { path, headers, body } = signedRequest(row, channel);
  const secret = Buffer.from(channel.appSecret, 'base64');
  const bytes = Buffer.from(body);
  const [timestamp, nonce, requestId] = [HEADERS.timestamp, HEADERS.nonce, HEADERS.requestId].map(
    (key) => headers[key],
  );
  const signature = headers[HEADERS.signature];
  const tokens = createAccessTokens(vault, { now: Date.now });
  return {
    signature: cpuOf(() => {
      const parts = { path, query: '', bodySha256: sha256Hex(bytes), timestamp, nonce, requestId };
      if (!verifySignature(signature, signRequest(parts, secret))) throw new Error('the signature does not hold');
    }),
    token: cpuOf(() => tokens.check(channel.token, channel)),
  };
}

const BATCH = 20_000;
const BATCHES = 9;

function cpuOf(work) {
  return median(
    Array.from({ length: BATCHES }, () => {
      const before = process.cpuUsage();
      for (let n = 0; n < BATCH; n += 1) work();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / BATCH;
    }),
  );
}
