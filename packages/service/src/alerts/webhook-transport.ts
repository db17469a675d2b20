import type { Clock } from '../platform/clock.js';
import type { Settings } from '../platform/settings.js';
import { postSigned } from '../platform/signed-post.js';
import { AlertNotTaken, type AlertTransport, describeFailure, MAX_SENDING_MS } from './transport.js';

export type WebhookSettings = NonNullable<Settings['alertWebhook']>;

/** Posts to the configured URL. Any 2xx status means that the message was accepted. */
export function createWebhookTransport({ url, secret }: WebhookSettings, clock: Clock): AlertTransport {
  const closing = new AbortController();
  return {
    way: 'WEBHOOK',
    async send(messageId, message, signal = closing.signal) {
      const body = JSON.stringify({ messageId, ...message });
      let status: number;
      try {
        const timeout = AbortSignal.timeout(MAX_SENDING_MS);
        status = await postSigned(
          { url, secret },
          body,
          clock.now(),
          AbortSignal.any([timeout, closing.signal, signal]),
        );
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
