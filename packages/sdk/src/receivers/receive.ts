import { MAX_BODY_BYTES } from '@perennial/wire';
import { callListener } from '../call-listener.js';
import { type WebhookFault, WebhookVerificationError } from '../webhooks/errors.js';
import { createMemoryEventStore, type EventStore } from '../webhooks/store.js';
import {
  type EventFor,
  readKeys,
  readPath,
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookKeys,
} from '../webhooks/verify.js';

export interface ReceiverOptions<AesKey extends string | undefined = string | undefined> extends WebhookKeys<AesKey> {
  /** The path of the callback URL. Set it if a proxy changes the path before the request arrives here. */
  readonly path?: string | undefined;
  /** Stores which events were processed. By default the latest 100,000 are kept in memory until the process ends. */
  readonly store?: EventStore | undefined;
  /** Processes an authentic, new event within 5 s. For longer work, only save the event, and process it later. */
  onEvent(event: EventFor<AesKey>): unknown;
  /** Called with each failed verification (a WebhookVerificationError) and with exceptions of onEvent or the store. */
  onError(error: unknown, event?: EventFor<AesKey>): void;
}

/** A request, independent of the server framework. */
export interface Received {
  readonly method: string | undefined;
  /** The URL's path, with or without a query. */
  readonly url: string | undefined;
  readonly headers: WebhookHeaders;
  /** The bytes of the body. Undefined if the body is too long; null if a framework has consumed it. */
  readonly rawBody: VerifyWebhookOptions['rawBody'] | null | undefined;
}

export interface Reply {
  readonly status: number;
  readonly body: string;
}

export const REPLY_HEADERS = { 'Content-Type': 'application/json' } as const;

/** The longest body that is read. All events are shorter. */
export const MOST_BYTES = MAX_BODY_BYTES;

/** The HTTP statuses of faults that are not about the signature. All other faults are answered with 401. */
const STATUSES: Partial<Record<WebhookFault, number>> = {
  'not-json': 400,
  'too-deep': 400,
  'event-id-mismatch': 400,
  'not-an-event': 400,
  // Faults of this receiver itself. After a correction, the event can be sent again.
  'body-was-parsed': 500,
  'missing-body': 500,
  'cannot-decrypt': 500,
};

/** Returns the function that all receivers call when they have read the body. */
export function createReceive<AesKey extends string | undefined>(
  options: ReceiverOptions<AesKey>,
): (received: Received) => Promise<Reply> {
  readKeys(options);
  const pathAtTheService = options.path === undefined ? undefined : readPath(options.path);
  for (const name of ['onEvent', 'onError'] as const) {
    if (typeof options[name] !== 'function') throw new TypeError(`${name} must be a function`);
  }
  const store = readStore(options.store ?? createMemoryEventStore());
  const inFlight = new Map<string, Promise<Reply>>();

  /** Reports an error. Ignores exceptions of onError, so that a stranger's request cannot crash the process. */
  function report(error: unknown, event?: EventFor<AesKey>): void {
    callListener(() => options.onError(error, event));
  }

  async function deal(event: EventFor<AesKey>): Promise<Reply> {
    try {
      if (await isNew(event)) await handle(event);
      return reply(200, '0');
    } catch (error) {
      report(error, event);
      return reply(500, 'failed');
    }
  }

  /**
   * Returns whether the event is new. Throws if the store answers neither 'new' nor 'known', because an event that
   * wrongly counts as known would never be processed.
   */
  async function isNew({ eventId }: EventFor<AesKey>): Promise<boolean> {
    const said: unknown = await store.remember(eventId);
    if (said === 'new' || said === 'known') return said === 'new';
    throw new TypeError("store.remember must return 'new' or 'known'");
  }

  async function handle(event: EventFor<AesKey>): Promise<void> {
    try {
      await options.onEvent(event);
    } catch (error) {
      try {
        await store.forget(event.eventId);
      } catch (inStore) {
        // Reports both errors. Because the store failed, the event counts as known when it is sent again.
        report(inStore, event);
      }
      throw error;
    }
  }

  /** Processes an event. A duplicate that arrives during the processing gets the same response. */
  function dealOnce(event: EventFor<AesKey>): Promise<Reply> {
    const { eventId } = event;
    const known = inFlight.get(eventId);
    if (known !== undefined) return known;
    const work = deal(event).finally(() => inFlight.delete(eventId));
    inFlight.set(eventId, work);
    return work;
  }

  return async ({ method, url, headers, rawBody }) => {
    if (method !== 'POST') return reply(405, 'method');
    if (rawBody === undefined) return reply(413, 'too-long');
    const path = pathAtTheService ?? url?.split(/[?#]/)[0];
    if (!path?.startsWith('/')) return reply(404, 'path');
    try {
      return await dealOnce(
        verifyWebhook({ ...options, path, headers, rawBody: rawBody as VerifyWebhookOptions['rawBody'] }),
      );
    } catch (error) {
      report(error);
      if (!(error instanceof WebhookVerificationError)) return reply(500, 'failed');
      return reply(STATUSES[error.reason] ?? 401, error.reason);
    }
  };
}

function readStore(store: EventStore): EventStore {
  for (const name of ['remember', 'forget'] as const) {
    if (typeof store[name] !== 'function') throw new TypeError(`store.${name} must be a function`);
  }
  return store;
}

const reply = (status: number, code: string): Reply => ({ status, body: JSON.stringify({ code }) });
