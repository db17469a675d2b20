import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.js';
import { postSigned, type SignedReceiver } from '../platform/signed-post.js';

/** A message for a user's login mobile. It contains personal data and a secret, so it is only sent, never logged. */
export interface UserMessage {
  readonly kind: 'CONFIRMATION_CODE' | 'REDEEM_LINK';
  readonly appId: string;
  readonly mobile: string;
  readonly language: 'zh' | 'en';
  /** The whole message, in that language. */
  readonly text: string;
  /** The code or the link in the text, for a service that has texts of its own. */
  readonly code?: string;
  readonly url?: string;
}

/** Sends a message, once. Returns false if the receiver has not accepted it. */
export type MessageSender = (message: UserMessage) => Promise<boolean>;

/** The user waits for the answer. */
const MAX_SENDING_MS = 8_000;

/** Creates the sender that posts messages to the operator's SMS or e-mail service. */
export function createMessageSender(receiver: SignedReceiver, clock: Clock, log: Logger): MessageSender {
  return async (message) => {
    const body = JSON.stringify({ messageId: randomUUID(), ...message });
    const signal = AbortSignal.timeout(MAX_SENDING_MS);
    const why = await postSigned(receiver, body, clock.now(), signal).then(
      (status) => (status >= 200 && status <= 299 ? undefined : `HTTP ${status}`),
      (error: unknown) => (error instanceof Error ? error.name : 'it failed'),
    );
    if (why !== undefined) {
      log.warn({ why, kind: message.kind, cause: `MESSAGE_HOOK_URL: ${why}` }, 'a message to a user was not sent');
    }
    return why === undefined;
  };
}
