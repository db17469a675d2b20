import {
  CLIENT_FAULT_RETRY_DELAYS_MS,
  CLIENT_READ_TIMEOUT_MS,
  CODES,
  ENDPOINTS,
  type EncryptionVersion,
  type Endpoint,
  type EndpointName,
  HEADER_FORMS,
  randomBytes,
  toHex,
} from '@perennial/wire';
import type { AnswerOf, BodyOf } from './bodies.js';
import { callListener } from './call-listener.js';
import { systemNow, waitFor } from './clock.js';
import type { SignatureDiagnosis } from './diagnosis.js';
import { decrypterOf, encrypterOf } from './encryption.js';
import { PerennialConnectionError, PerennialError } from './errors.js';
import {
  type Answer,
  type Exchange,
  exchange,
  type Fetch,
  fetchDiagnosis,
  type NoAnswer,
  type Sender,
} from './exchange.js';
import { decryptFields, encryptFields, type Fields, isObject, mayHoldEncrypted, usePlainNames } from './fields.js';
import { writeJson } from './json.js';
import { type CallOptions, isEndpointName, type Methods, makeMethods } from './methods.js';
import { isTokenRefused, retryDelayAfter } from './retry.js';
import { readSecret } from './secrets.js';
import { Tokens } from './tokens.js';

export interface PerennialClientOptions {
  /** The service's address without a path, such as https://pay.example. */
  readonly baseUrl: string;
  readonly appId: string;
  /** The app secret, in base64 like all secrets. */
  readonly appSecret: string;
  readonly aesKey: string;
  /** Not used by the client. Accepted so that the whole file of credentials can be passed. */
  readonly callbackSecret?: string | undefined;
  /** Not used by the client, like callbackSecret. */
  readonly products?: readonly string[] | undefined;
  /** Not used by the client, like callbackSecret. */
  readonly paymentChannels?: readonly string[] | undefined;
  /** Replaces the global fetch. */
  readonly fetch?: Fetch | undefined;
  /** Timeout for one attempt, including the last byte of its response. Default 15 s. */
  readonly timeoutMs?: number | undefined;
  /** The maximum number of retries of a request: 0 to 3, default 3. A retry with a new token does not count. */
  readonly retries?: number | undefined;
  /** The version of encrypted fields. Default v2. */
  readonly encryption?: EncryptionVersion | undefined;
  /** Replaces the machine's clock. Returns Unix milliseconds. */
  readonly now?: (() => number) | undefined;
  /** Replaces waiting, for tests. */
  readonly wait?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
  /** Called before each attempt of a request. Exceptions of this function are ignored. */
  readonly onRequest?: ((request: RequestNotice) => void) | undefined;
  /** Called after each attempt of a request. Exceptions of this function are ignored. */
  readonly onResponse?: ((response: ResponseNotice) => void) | undefined;
  /**
   * Called with the sandbox's warnings, such as unknown fields. Default: console.warn. Exceptions of this function are
   * ignored.
   */
  readonly onWarning?: ((warning: string, endpoint: EndpointName) => void) | undefined;
}

export interface RequestNotice {
  readonly endpoint: EndpointName;
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
  /** From 1. */
  readonly attempt: number;
}

export interface ResponseNotice extends RequestNotice {
  /** The HTTP status. Undefined if there was no response. */
  readonly httpStatus: number | undefined;
  readonly code: string | undefined;
  /** True if this is the stored outcome of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  /** The delay before the next attempt, or undefined if this attempt was the last. */
  readonly againAfterMs: number | undefined;
}

/** The data of a successful response, its request id, time and HTTP status, and facts about the call. */
export interface WholeAnswer<Data> {
  readonly data: Data;
  readonly requestId: string;
  readonly httpStatus: number;
  /** The time of the response, `yyyy-MM-dd HH:mm:ss` in UTC+8. */
  readonly timestamp: string;
  /** True if this is the stored outcome of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  readonly idempotencyKey: string | undefined;
  readonly attempts: number;
}

class Client {
  static {
    // Sets the class name that logs show.
    Object.defineProperty(Client, 'name', { value: 'PerennialClient' });
  }

  readonly #sender: Sender;
  readonly #aesKey: Uint8Array;
  readonly #retries: number;
  readonly #options: PerennialClientOptions;
  readonly #tokens: Tokens;

  constructor(options: PerennialClientOptions) {
    if (!isObject(options)) throw new TypeError('options must be an object: baseUrl, appId, appSecret, aesKey');
    for (const name of FUNCTIONS) readFunction(name, options[name]);
    const now = options.now ?? systemNow;
    this.#sender = {
      baseUrl: readBaseUrl(options.baseUrl),
      appId: readToken('appId', options.appId),
      appSecret: readSecret('appSecret', options.appSecret),
      timeoutMs: readTimeout(options.timeoutMs),
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      now,
      encryption: readEncryption(options.encryption),
    };
    this.#aesKey = readSecret('aesKey', options.aesKey);
    this.#retries = readRetries(options.retries);
    this.#options = options;
    this.#tokens = new Tokens(async () => (await this.send('auth/token', {})).data, now);
    Object.assign(
      this,
      makeMethods(async (name, body, given) => (await this.send(name, body as never, given)).data),
    );
  }

  /** Calls any endpoint and returns the whole response: `client.send('orders/query', { orderNo })`. */
  async send<Name extends EndpointName>(
    name: Name,
    body: BodyOf<Name>,
    options: CallOptions = {},
  ): Promise<WholeAnswer<AnswerOf<Name>>> {
    if (!isEndpointName(name)) throw new TypeError(`there is no endpoint ${String(name)}`);
    if (!isObject(body) || Array.isArray(body)) throw new TypeError(`the body of ${name} must be an object`);
    const endpoint: Endpoint = ENDPOINTS[name];
    const idempotencyKey = endpoint.write
      ? readToken('idempotencyKey', options.idempotencyKey ?? randomId())
      : undefined;
    const request = {
      endpoint,
      body: this.#write(endpoint, body as Fields, idempotencyKey),
      requestId: readToken('requestId', options.requestId ?? randomId()),
      idempotencyKey,
      signal: readSignal(options.signal),
    };
    const { answer, attempts } = await this.#exchange(name, request);
    const data = mayHoldEncrypted(answer.json) ? decryptFields(answer.data, decrypterOf(this.#aesKey)) : answer.data;
    const { requestId, httpStatus, timestamp, replayed } = answer;
    return { data: data as AnswerOf<Name>, requestId, httpStatus, timestamp, replayed, idempotencyKey, attempts };
  }

  #write(endpoint: Endpoint, body: Fields, idempotencyKey: string | undefined): string {
    const encrypt = encrypterOf(this.#aesKey, this.#sender.encryption, idempotencyKey);
    const whole = endpoint.name === 'auth/token' ? this.#tokenRequest(body) : body;
    return writeJson(encryptFields(endpoint.request, whole, encrypt));
  }

  #tokenRequest = (body: Fields): Fields => ({ grantType: 'client_credentials', appId: this.#sender.appId, ...body });

  /**
   * Returns a token. If auth/token gives no response, the error gets the call's idempotency key, because an earlier
   * attempt of the call may have been executed.
   */
  async #getToken(request: Omit<Exchange, 'token'>, attempt: number): Promise<string> {
    try {
      return await this.#tokens.get(request.signal);
    } catch (error) {
      if (!(error instanceof PerennialConnectionError)) throw error;
      const { reason, message, httpStatus } = error;
      throw errorOf(
        {
          kind: 'no-answer',
          reason,
          message: `auth/token: ${message}`,
          httpStatus,
          retryAfterMs: undefined,
          cause: error,
        },
        request,
        attempt - 1,
      );
    }
  }

  /** Sends a request until it succeeds, a retry would not help, or no retry is left. */
  async #exchange(name: EndpointName, request: Omit<Exchange, 'token'>): Promise<{ answer: Answer; attempts: number }> {
    const { requestId, idempotencyKey, signal } = request;
    const { onRequest, onResponse, onWarning = warn, wait = waitFor } = this.#options;
    let isRenewed = false;
    for (let attempt = 1, tries = 1; ; attempt++) {
      const token = request.endpoint.token ? await this.#getToken(request, attempt) : undefined;
      const notice = { endpoint: name, requestId, idempotencyKey, attempt };
      callListener(() => onRequest?.(notice));
      const outcome = await exchange(this.#sender, { ...request, token });
      const warning = outcome.kind === 'answer' ? outcome.warning : undefined;
      if (warning !== undefined) callListener(() => onWarning(usePlainNames(warning), name));
      const isSuccess = outcome.kind === 'answer' && outcome.code === CODES.SUCCESS.code;
      const isToBeRenewed = isTokenRefused(outcome) && !isRenewed;
      const pause = isToBeRenewed ? 0 : isSuccess ? undefined : retryDelayAfter(outcome, tries, this.#retries);
      callListener(() => onResponse?.({ ...notice, ...noticeOf(outcome), againAfterMs: pause }));
      if (isSuccess) return { answer: outcome, attempts: attempt };
      if (pause === undefined) {
        const isDiagnosed = outcome.kind === 'answer' && outcome.mistakes.length > 0;
        const diagnosis = isDiagnosed ? await fetchDiagnosis(this.#sender, request) : undefined;
        throw errorOf(outcome, request, attempt, diagnosis);
      }
      if (isToBeRenewed) {
        isRenewed = true;
        this.#tokens.drop(token);
        continue;
      }
      await wait(pause, signal);
      tries++;
    }
  }
}

/** A channel's client for the service, with a method for each endpoint. */
export type PerennialClient = Client & Methods;

export const PerennialClient = Client as new (options: PerennialClientOptions) => PerennialClient;

function noticeOf(outcome: Answer | NoAnswer) {
  const { httpStatus } = outcome;
  if (outcome.kind === 'no-answer') return { httpStatus, code: undefined, replayed: false };
  return { httpStatus, code: outcome.code, replayed: outcome.replayed };
}

function errorOf(
  outcome: Answer | NoAnswer,
  request: Omit<Exchange, 'token'>,
  attempts: number,
  diagnosis?: SignatureDiagnosis,
): Error {
  const { requestId, idempotencyKey } = request;
  const facts = { endpoint: request.endpoint.name, requestId, idempotencyKey, attempts };
  if (outcome.kind === 'no-answer') return new PerennialConnectionError({ ...outcome, ...facts });
  return new PerennialError({ ...outcome, ...facts, diagnosis });
}

const FUNCTIONS = ['fetch', 'now', 'wait', 'onRequest', 'onResponse', 'onWarning'] as const;

const warn = (warning: string, endpoint: EndpointName): void =>
  // biome-ignore lint/suspicious/noConsole: the default of onWarning, and only in the sandbox
  console.warn(`perennial-channel: ${endpoint}: ${warning}`);

function readFunction(name: string, given: unknown): void {
  if (given !== undefined && typeof given !== 'function') throw new TypeError(`${name} must be a function`);
}

/** Returns the signal. Accepts signals of other realms and libraries too, which no instanceof would recognise. */
function readSignal(signal: AbortSignal | null | undefined): AbortSignal | undefined {
  if (signal === undefined || signal === null) return undefined;
  if (typeof signal.throwIfAborted === 'function') return signal;
  throw new TypeError('signal must be an AbortSignal');
}

function readBaseUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError('baseUrl must be a URL such as https://pay.example');
  }
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('baseUrl must begin with https:// or http://');
  if (url.username !== '' || url.password !== '') throw new TypeError('baseUrl must not hold a user or a password');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new TypeError(`baseUrl must end after the host, without a path: ${url.origin}`);
  return url.origin;
}

/** Throws if the text cannot be a header value: fetch would report it as a failed connection. */
function readToken(name: 'appId' | 'idempotencyKey' | 'requestId', text: string): string {
  const [form, most] = name === 'requestId' ? [HEADER_FORMS.requestId, 1_024] : [HEADER_FORMS.idempotencyKey, 128];
  if (typeof text === 'string' && form.test(text)) return text;
  throw new TypeError(`${name} must be 1 to ${most} visible ASCII characters`);
}

/** The longest delay that a timer can have. With a longer delay, a timer fires at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

function readTimeout(ms: number = CLIENT_READ_TIMEOUT_MS): number {
  if (typeof ms === 'number' && ms >= 1 && ms <= MAX_TIMEOUT_MS) return ms;
  throw new TypeError(`timeoutMs must be 1 to ${MAX_TIMEOUT_MS}`);
}

function readEncryption(version: EncryptionVersion = 'v2'): EncryptionVersion {
  if (version === 'v1' || version === 'v2') return version;
  throw new TypeError("encryption must be 'v1' or 'v2'");
}

function readRetries(retries: number = CLIENT_FAULT_RETRY_DELAYS_MS.length): number {
  const most = CLIENT_FAULT_RETRY_DELAYS_MS.length;
  if (Number.isInteger(retries) && retries >= 0 && retries <= most) return retries;
  throw new TypeError(`retries must be 0 to ${most}`);
}

const randomId = (): string => toHex(randomBytes(16));
