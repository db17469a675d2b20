import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ChannelClient, Reply } from './channel-client.js';

/** Between two tries: a node that was killed needs a second or two to be back. */
const PAUSE_MS = 200;
/** For what will never happen. */
const PATIENCE_MS = 90_000;

/** Not begun, or not known how it ended; the same request finds out. */
const AGAIN = new Set(['409002', '429001']);

/**
 * As a channel should: the same request with the same key again after a lost connection, a fault, a twin still at work, or
 * one too many at a time.
 */
export async function untilAnswered(
  client: ChannelClient,
  name: string,
  body: object,
  idempotencyKey: string,
): Promise<Reply> {
  const raw = JSON.stringify(body);
  const limit = AbortSignal.timeout(PATIENCE_MS);
  for (;;) {
    const reply = await client.call(name, undefined, { raw, idempotencyKey }).catch(lostConnection);
    if (reply !== undefined && reply.status < 500 && !AGAIN.has(reply.code)) {
      expect(reply.code, reply.text).toBe('0');
      return reply;
    }
    if (limit.aborted) throw new Error(`no answer of ${name} to ${idempotencyKey}; the last was ${reply?.text}`);
    await delay(PAUSE_MS);
  }
}

function lostConnection(error: unknown): undefined {
  if (!(error instanceof Error) || !/ECONN|socket hang up|EPIPE|auth\/token answered/.test(error.message)) throw error;
}
