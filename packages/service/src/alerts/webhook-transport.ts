import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import type { Clock } from '../platform/clock.js';
import { AlertNotTaken, type AlertTransport, describeFailure, MAX_SENDING_MS } from './transport.js';

export interface WebhookSettings {
  readonly url: string;
  readonly secret: string;
}

/**
 * What a receiver compares with the header: HMAC-SHA256 over the time in the other header, a dot, and the body's bytes.
 * The time is signed, so that nobody can send an old message again as a new one.
 */
export function signAlert(secret: string, timestamp: string, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
}

/** Posts to the address that the operator has set. Any 2xx means that the message was taken. */
export function createWebhookTransport({ url, secret }: WebhookSettings, clock: Clock): AlertTransport {
  const dispatcher = new Agent({ connections: 1, pipelining: 0 });
  return {
    way: 'WEBHOOK',
    async send(messageId, message, signal) {
      const timestamp = String(Math.floor(clock.now() / 1000));
      const body = JSON.stringify({ messageId, ...message });
      const limit = AbortSignal.timeout(MAX_SENDING_MS);
      let status: number;
      try {
        const answer = await request(url, {
          method: 'POST',
          dispatcher,
          headers: {
            'content-type': 'application/json; charset=utf-8',
            'x-perennial-timestamp': timestamp,
            'x-perennial-signature': signAlert(secret, timestamp, body),
          },
          body,
          signal: signal ? AbortSignal.any([limit, signal]) : limit,
        });
        status = answer.statusCode;
        // The body is not used, but a connection whose answer is not read could not be used again.
        await answer.body.dump({ limit: 65_536 });
      } catch (error) {
        throw new AlertNotTaken(describeFailure(error));
      }
      if (status < 200 || status > 299) throw new AlertNotTaken(`HTTP ${status}`);
    },
    close: () => dispatcher.destroy(),
  };
}
