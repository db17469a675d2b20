import { createHmac } from 'node:crypto';
import type { Clock } from '../platform/clock.js';
import type { Settings } from '../platform/settings.js';
import { AlertNotTaken, type AlertTransport, describeFailure, MAX_SENDING_MS } from './transport.js';

export type WebhookSettings = NonNullable<Settings['alertWebhook']>;

/**
 * Returns the value of the signature header: HMAC-SHA256 over the timestamp header, a dot and the body's bytes. The
 * timestamp is signed to prevent replays of old messages.
 */
export function signAlert(secret: string, timestamp: string, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
}

/** Posts to the configured URL. Any 2xx status means that the message was accepted. */
export function createWebhookTransport({ url, secret }: WebhookSettings, clock: Clock): AlertTransport {
  const closing = new AbortController();
  return {
    way: 'WEBHOOK',
    async send(messageId, message, signal = closing.signal) {
      const timestamp = String(Math.floor(clock.now() / 1000));
      const body = JSON.stringify({ messageId, ...message });
      let status: number;
      try {
        const answer = await fetch(url, {
          method: 'POST',
          // Redirects are not followed, because the operator has not configured their target.
          redirect: 'manual',
          headers: {
            'content-type': 'application/json; charset=utf-8',
            'x-perennial-timestamp': timestamp,
            'x-perennial-signature': signAlert(secret, timestamp, body),
          },
          body,
          signal: AbortSignal.any([AbortSignal.timeout(MAX_SENDING_MS), closing.signal, signal]),
        });
        status = answer.status;
        await answer.body?.cancel();
      } catch (error) {
        throw new AlertNotTaken(describeFailure(error));
      }
      if (status < 200 || status > 299) throw new AlertNotTaken(`HTTP ${status}`);
    },
    async close() {
      closing.abort();
    },
  };
}
