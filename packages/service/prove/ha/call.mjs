import { HEADERS } from '@perennial/wire';
import { signedRequest } from '../../bench/signed.mjs';

/** What the interface suggests to callers. */
export const PATIENCE_MS = 15_000;

/** What a caller sees of one try: a code of the service, or what the network said. */
export async function call(node, channel, { endpoint, body, key }, patienceMs = PATIENCE_MS) {
  const request = signedRequest({ endpoint, body: () => body }, channel);
  // signedRequest makes a key for each request; here a resend has that of the first try, or there is none.
  const headers = { ...request.headers };
  if (key === undefined) delete headers[HEADERS.idempotencyKey];
  else headers[HEADERS.idempotencyKey] = key;
  try {
    const response = await fetch(node.baseUrl + request.path, {
      method: 'POST',
      headers,
      body: request.body,
      signal: AbortSignal.timeout(patienceMs),
    });
    const { code, data } = await response.json();
    return { code, data, wasReplayed: response.headers.get(HEADERS.idempotencyReplayed) === 'true' };
  } catch (error) {
    return { code: nameOf(error), data: null, wasReplayed: false };
  }
}

/** Success, or a refusal by the rules of the business: both are kept, and given again to a resend. */
export const isFinal = ({ code }) => code === '0' || isRefusal(code);

export const isRefusal = (code) => code.startsWith('420');

function nameOf(error) {
  if (error.name === 'TimeoutError') return 'timeout';
  return error.cause?.code === 'ECONNREFUSED' ? 'refused' : 'broken off';
}
