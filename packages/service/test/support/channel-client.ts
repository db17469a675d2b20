import { randomBytes, randomUUID } from 'node:crypto';
import http from 'node:http';
import {
  CODES,
  CONTENT_TYPE,
  type Endpoint,
  endpoints,
  HEADERS,
  PATH_PREFIX,
  sha256Hex,
  signRequest,
} from '@perennial/wire';

export interface ChannelCredentials {
  readonly appId: string;
  readonly appSecret: string;
  readonly aesKey: string;
  readonly callbackSecret: string;
}

export interface CallOptions {
  /** Replaces header values. `undefined` removes a header, and an array sends it several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The exact bytes to send instead of the body's JSON. */
  readonly raw?: Buffer | string;
  /** The bytes that are signed instead of the sent bytes. */
  readonly signRaw?: Buffer | string;
  readonly query?: string;
  readonly path?: string;
  readonly method?: string;
  readonly nonce?: string;
  readonly timestamp?: number | string;
  readonly requestId?: string;
  readonly idempotencyKey?: string;
  readonly token?: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  readonly code: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly data: any;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly envelope: any;
}

/**
 * Returns whether a channel should retry with the same key: after a fault, while a duplicate runs, or when
 * rate-limited.
 */
export const isToBeSentAgain = ({ status, code }: Pick<Reply, 'status' | 'code'>): boolean =>
  status >= 500 || status === 429 || code === '409002';

/** Creates a channel's client for tests, in which every part of a request can be made wrong. */
export function channelClient(baseUrl: string, credentials: ChannelCredentials, now: () => number = () => Date.now()) {
  let token: string | undefined;

  function signedHeaders(name: string, body: Buffer, options: CallOptions) {
    const timestamp = String(options.timestamp ?? now());
    const nonce = options.nonce ?? randomBytes(16).toString('hex');
    const requestId = options.requestId ?? randomUUID();
    const signed = options.signRaw === undefined ? body : Buffer.from(options.signRaw);
    const signature = signRequest(
      {
        path: options.path ?? PATH_PREFIX + name,
        query: options.query ?? '',
        bodySha256: sha256Hex(signed),
        timestamp,
        nonce,
        requestId,
      },
      Buffer.from(credentials.appSecret, 'base64'),
    );
    return {
      [HEADERS.contentType]: CONTENT_TYPE,
      [HEADERS.appId]: credentials.appId,
      [HEADERS.timestamp]: timestamp,
      [HEADERS.nonce]: nonce,
      [HEADERS.requestId]: requestId,
      [HEADERS.signature]: signature,
      ...(options.token === undefined ? {} : { [HEADERS.authorization]: `Bearer ${options.token}` }),
      ...(options.idempotencyKey === undefined ? {} : { [HEADERS.idempotencyKey]: options.idempotencyKey }),
    };
  }

  /** Makes a signed call, without a token unless the options have one. */
  async function callBare(name: string, body: unknown, options: CallOptions = {}): Promise<Reply> {
    const bytes = Buffer.from(options.raw ?? JSON.stringify(body));
    const headers: Record<string, string | readonly string[] | undefined> = {
      ...signedHeaders(name, bytes, options),
      ...options.headers,
    };
    const path = (options.path ?? PATH_PREFIX + name) + (options.query === undefined ? '' : `?${options.query}`);
    const reply = await send(baseUrl, options.method ?? 'POST', path, headers, bytes);
    requireListed(path, reply.code);
    return reply;
  }

  async function getToken(): Promise<string> {
    const reply = await callBare('auth/token', { grantType: 'client_credentials', appId: credentials.appId });
    if (reply.code !== '0') throw new Error(`auth/token answered ${reply.text}`);
    return reply.data.accessToken;
  }

  return {
    credentials,
    getToken,
    callBare,
    signedHeaders,
    /** Makes a signed call with a token. */
    async call(name: string, body: unknown, options: CallOptions = {}): Promise<Reply> {
      token ??= await getToken();
      return callBare(name, body, { token, ...options });
    },
  };
}

/** Throws if the code is a business code that the endpoint does not list. */
function requireListed(path: string, code: string): void {
  const endpoint = endpoints.find((one) => one.path === path);
  const isOwn = (of: Endpoint) => of.codes.some((name) => CODES[name].code === code);
  if (endpoint && !isOwn(endpoint) && endpoints.some(isOwn)) {
    throw new Error(
      `${endpoint.name} answered ${code}, which is not among its codes in packages/wire/src/endpoints.ts`,
    );
  }
}

export type ChannelClient = ReturnType<typeof channelClient>;

export function send(
  baseUrl: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body: Buffer,
  { localAddress }: { readonly localAddress?: string | undefined } = {},
): Promise<Reply> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, method, path, localAddress, agent: false });
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) request.setHeader(name, value);
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = response.headers['content-type']?.startsWith('application/json') === true;
        const envelope = isJson ? JSON.parse(text) : undefined;
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          code: envelope?.code,
          data: envelope?.data,
          envelope,
        });
      });
    });
    request.end(body);
  });
}
