import type { Clock } from '@perennial/bridge-kit';
import { AlipayRequestError, AlipaySdk } from 'alipay-sdk';
import { formatTime } from './times.js';

export interface GatewaySettings {
  readonly appId: string;
  /** PEM, PKCS #8. */
  readonly privateKey: string;
  /** Alipay's public key (not the app's) in PEM. */
  readonly alipayPublicKey: string;
  /** The URL without `/gateway.do`. */
  readonly endpoint: string;
}

/** The timeout of a call. It is longer than any caller waits, because a late response is still stored. */
const TIMEOUT_MS = 20_000;

/** Alipay's response, after its signature was verified. */
export interface Answer {
  /** `done`: executed. `waiting`: not executed yet. `failed`: certainly refused. */
  readonly outcome: 'done' | 'waiting' | 'failed';
  readonly subCode: string;
  /** Alipay's description of a failure. */
  readonly words: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Gateway {
  /** Calls a method. The call continues if its caller gives up, because the kit stores late responses. */
  call(method: string, content: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Answer>;
  /** Verifies Alipay's signature on a notice. */
  isSigned(notice: Readonly<Record<string, string>>): boolean;
}

/** Thrown if the outcome of a call is unknown. */
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
    // Keeps the field names of Alipay's documentation.
    camelcase: false,
  });

  return {
    async call(method, content, signal) {
      signal?.throwIfAborted();
      // Sets the timestamp, because the SDK would use the machine's time zone, and Alipay requires UTC+8.
      const request = {
        timestamp: formatTime(clock.now()),
        ...(notifyUrl ? { notifyUrl } : {}),
        bizContent: { ...content },
      };
      // The SDK resends a request once if the connection breaks. This is safe: Alipay executes each trade number and
      // each refund number only once.
      const asked = sdk.exec(method, request, { validateSign: true }).catch((error: unknown) => {
        throw new Unknown(`${method}: ${explain(error)}`);
      });
      return toAnswer(method, await asked);
    },
    isSigned(notice) {
      // Without this check the SDK would also accept a notice that names the weaker signature type RSA.
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
 * Maps Alipay's code (https://opendocs.alipay.com/common/02km9f): 10000 is done, 10003 waits for the user, 40004
 * certainly failed. After 20000 and SYSTEM_ERROR the outcome is unknown. Any other code may mean that a setting is
 * wrong. Its outcome counts as unknown too, so that our own mistake never declines a debit.
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

/** Describes an error. Omits Alipay's response, which may contain a user's account. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  const text = error instanceof AlipayRequestError ? error.message.split(", validateStr: '")[0] : error.message;
  return (text ?? '').slice(0, 200);
}
