import { HEADERS } from '@perennial/wire';
import { signedRequest } from '../../bench/signed.mjs';
import { claimOnPage } from './page.mjs';

/** The timeout that the interface recommends to callers. */
export const PATIENCE_MS = 15_000;

/** Makes one attempt. Returns the service's result code, or a name for the network error. */
export async function call(node, channel, request, patienceMs = PATIENCE_MS) {
  const signal = AbortSignal.timeout(patienceMs);
  try {
    return await (request.endpoint === 'redeem/claim'
      ? claimOnPage(node, request, signal)
      : callEndpoint(node, channel, request, signal));
  } catch (error) {
    return { code: nameOf(error), data: null, wasReplayed: false };
  }
}

async function callEndpoint(node, channel, { endpoint, body, key }, signal) {
  const request = signedRequest({ endpoint, body: () => body }, channel);
  // Replaces the idempotency key that signedRequest generates: a retry has the first attempt's key, and a read has
  // none.
  const headers = { ...request.headers };
  if (key === undefined) delete headers[HEADERS.idempotencyKey];
  else headers[HEADERS.idempotencyKey] = key;
  const response = await fetch(node.baseUrl + request.path, { method: 'POST', headers, body: request.body, signal });
  const { code, data } = await response.json();
  return { code, data, wasReplayed: response.headers.get(HEADERS.idempotencyReplayed) === 'true' };
}

/** Returns true for a success or a business refusal, because the service stores and replays them. */
export const isFinal = ({ code }) => code === '0' || isRefusal(code) || PAGE_REFUSALS.has(code);

export const isRefusal = (code) => code.startsWith('420');

/** The results of claimOnPage for a revoked benefit. */
const PAGE_REFUSALS = new Set(['revoked', 'no button']);

/** Returns true if the request itself was wrong. The load sends no wrong requests. */
export const isMistake = ({ code }) => /^4[01]0/.test(code);

function nameOf(error) {
  if (error.name === 'TimeoutError') return 'timeout';
  return error.cause?.code === 'ECONNREFUSED' ? 'refused' : 'broken off';
}
