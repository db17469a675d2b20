import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { type ChannelClient, isToBeSentAgain, type Reply } from './channel-client.js';

/** The delay between two attempts. A killed node needs a second or two to restart. */
const PAUSE_MS = 200;
/** The time after which `untilAnswered` fails. */
const PATIENCE_MS = 180_000;

/** Retries as a channel should: with the same key after a lost connection, a fault, a duplicate or a rate limit. */
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
    if (reply !== undefined && !isToBeSentAgain(reply)) {
      expect(reply.code, reply.text).toBe('0');
      return reply;
    }
    if (limit.aborted) throw new Error(`no answer of ${name} to ${idempotencyKey}; the last was ${reply?.text}`);
    await delay(PAUSE_MS);
  }
}

/**
 * Returns undefined if the error means a lost connection or a refused token request, otherwise throws it. Checks the
 * error's code, because the message of an incomplete response is only "aborted".
 */
function lostConnection(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  const isLost =
    /ECONN|EPIPE/.test(String(code)) || (error instanceof Error && /auth\/token answered/.test(error.message));
  if (!isLost) throw error;
}
