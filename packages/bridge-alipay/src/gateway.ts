import type { Clock } from '@perennial/bridge-kit';
import { AlipayRequestError, AlipaySdk } from 'alipay-sdk';
import { formatTime } from './times.js';

export interface GatewaySettings {
  readonly appId: string;
  /** PEM, PKCS #8. */
  readonly privateKey: string;
  /** PEM: Alipay's own, not that of the app. */
  readonly alipayPublicKey: string;
  /** Without `/gateway.do`. */
  readonly endpoint: string;
}

/** Longer than anybody waits for an answer. */
const TIMEOUT_MS = 20_000;

/** What Alipay said, once its signature holds. */
export interface Answer {
  /** Done, not done yet, or refused for certain. */
  readonly outcome: 'done' | 'waiting' | 'failed';
  readonly subCode: string;
  /** Alipay's words for a failure. */
  readonly words: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Gateway {
  /** Goes on when its caller has given up: the kit writes down what is answered late. */
  call(method: string, content: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Answer>;
  /** Whether a notice has Alipay's signature. */
  isSigned(notice: Readonly<Record<string, string>>): boolean;
}

/** Nobody knows what became of a call. */
export class Unknown extends Error {
  override readonly name = 'Unknown';
}

export function createGateway(settings: GatewaySettings, clock: Clock, notifyUrl: string | undefined): Gateway {
  const sdk = new AlipaySdk({
    appId: settings.appId,
    privateKey: settings.privateKey,
    keyType: 'PKCS8',
    alipayPublicKey: settings.alipayPublicKey,
    gateway: `${settings.endpoint}/gateway.do`,
    timeout: TIMEOUT_MS,
    // Fields are called as in Alipay's pages.
    camelcase: false,
  });

  return {
    async call(method, content, signal) {
      signal?.throwIfAborted();
      // The SDK takes the zone of the machine for its timestamp, Alipay wants its own.
      const request = {
        timestamp: formatTime(clock.now()),
        ...(notifyUrl ? { notifyUrl } : {}),
        bizContent: { ...content },
      };
      // When a connection breaks, the SDK sends the request once more by itself: every number is good for one payment alone.
      const asked = sdk.exec(method, request, { validateSign: true }).catch((error: unknown) => {
        throw new Unknown(`${method}: ${explain(error)}`);
      });
      return toAnswer(method, await asked);
    },
    isSigned(notice) {
      // The SDK would take the weaker RSA too, if the notice says so.
      if (notice['sign_type'] !== 'RSA2' || !notice['sign']) return false;
      try {
        return sdk.checkNotifySignV2(notice);
      } catch {
        return false;
      }
    },
  };
}

/**
 * https://opendocs.alipay.com/common/02km9f: 10000 done, 10003 waiting for the user, 40004 failed for certain; 20000 and
 * SYSTEM_ERROR may be either. What is left is refused by the gateway before anybody has looked at it, as a setting is wrong: it is
 * treated as unknown as well, so that nothing is declined by a mistake of ours.
 */
function toAnswer(method: string, fields: Readonly<Record<string, unknown>>): Answer {
  const code = String(fields['code'] ?? '');
  const subCode = String(fields['sub_code'] ?? '');
  const words = String(fields['sub_msg'] ?? fields['msg'] ?? '');
  if (code === '10000') return { outcome: 'done', subCode, words, fields };
  if (code === '10003') return { outcome: 'waiting', subCode, words, fields };
  if (code === '40004' && !/SYSTEM_ERROR$|^isp\.unknow/i.test(subCode))
    return { outcome: 'failed', subCode, words, fields };
  throw new Unknown(`${method}: ${code} ${subCode} ${words}`);
}

/** Without what was answered: a user's account may stand in it. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  const text = error instanceof AlipayRequestError ? error.message.split(", validateStr: '")[0] : error.message;
  return (text ?? '').slice(0, 200);
}
