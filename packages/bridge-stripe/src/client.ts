import { AsyncLocalStorage } from 'node:async_hooks';
import { isIP } from 'node:net';
import { Stripe } from 'stripe';

/** The timeout for one call, from connecting to the last byte. A response that no caller awaits is still stored. */
const CALL_TIMEOUT_MS = 12_000;

export interface ClientSettings {
  readonly secretKey: string;
  /** Stripe's address. Default: https://api.stripe.com. Only tests set another address. */
  readonly apiBase?: string | undefined;
}

export interface StripeClient {
  readonly stripe: Stripe;
  /** Runs `work` and aborts its calls to Stripe when the signal fires. Do not use it for debits and refunds. */
  until<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
}

/**
 * Creates the SDK without automatic retries, because the kit queries a call that got no response. Uses `fetch`, because
 * over Node's HTTP the SDK would resend a request once after a broken connection, whatever `maxNetworkRetries` says.
 * The resent request would get a new timeout.
 */
export function createStripeClient({ secretKey, apiBase }: ClientSettings): StripeClient {
  const signals = new AsyncLocalStorage<AbortSignal>();
  const fetchUntil: typeof fetch = (input, init) => {
    const ends = [init?.signal, signals.getStore()].filter((signal) => signal !== undefined && signal !== null);
    return fetch(input, { ...init, redirect: 'error', signal: AbortSignal.any(ends) });
  };
  const stripe = new Stripe(secretKey, {
    maxNetworkRetries: 0,
    timeout: CALL_TIMEOUT_MS,
    telemetry: false,
    httpClient: Stripe.createFetchHttpClient(fetchUntil),
    ...(apiBase === undefined ? {} : readApiBase(apiBase)),
  });
  return { stripe, until: (signal, work) => signals.run(signal, work) };
}

function readApiBase(text: string): { host: string; port: number; protocol: 'http' | 'https' } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'http:';
  if (url === undefined || url.pathname !== '/' || !(isHttp || url.protocol === 'https:')) {
    throw new Error('STRIPE_API_BASE must be http:// or https:// with a host and no path');
  }
  if (isHttp && !isLoopback(url.hostname))
    throw new Error('STRIPE_API_BASE must be https:// except for this machine, because the key is sent to it');
  const port = url.port === '' ? (isHttp ? 80 : 443) : Number(url.port);
  return { host: url.hostname, port, protocol: isHttp ? 'http' : 'https' };
}

const isLoopback = (host: string) => host === 'localhost' || (isIP(host) === 4 && host.startsWith('127.'));
