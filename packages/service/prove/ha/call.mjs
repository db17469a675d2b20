import { HEADERS } from '@perennial/wire';
import { signedRequest } from '../../bench/signed.mjs';
import { claimOnPage } from './page.mjs';

/** The timeout that the interface recommends to callers. */
export const PATIENCE_MS = 15_000;

/** Makes one attempt. Returns the service's code, or the network's error. */
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
  // signedRequest generates a key per request. Here a retry reuses the first attempt's key, or has none.
  const headers = { ...request.headers };
  if (key === undefined) delete headers[HEADERS.idempotencyKey];
  else headers[HEADERS.idempotencyKey] = key;
  const response = await fetch(node.baseUrl + request.path, { method: 'POST', headers, body: request.body, signal });
  const { code, data } = await response.json();
  return { code, data, wasReplayed: response.headers.get(HEADERS.idempotencyReplayed) === 'true' };
}

/** A success or a business refusal: both are stored and replayed. */
export const isFinal = ({ code }) => code === '0' || isRefusal(code) || PAGE_REFUSALS.has(code);

export const isRefusal = (code) => code.startsWith('420');

/** What the redemption page shows for a revoked benefit. */
const PAGE_REFUSALS = new Set(['revoked', 'no button']);

/** The request itself is wrong. The load sends none of these. */
export const isMistake = ({ code }) => /^4[01]0/.test(code);

function nameOf(error) {
  if (error.name === 'TimeoutError') return 'timeout';
  return error.cause?.code === 'ECONNREFUSED' ? 'refused' : 'broken off';
}
