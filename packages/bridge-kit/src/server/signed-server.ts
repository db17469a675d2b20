import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { TLSSocket, Server as TlsServer } from 'node:tls';
import {
  BRIDGE_HEADERS,
  CONTENT_TYPE,
  checkSignature,
  type Fields,
  MAX_MESSAGE_BYTES,
  readFields,
  signResponse,
} from '@perennial/wire/bridge';
import fastify, { type FastifyInstance } from 'fastify';
import type { Clock } from '../clock.js';
import { BodyRoom } from './body-room.js';
import { BadMessage, Refusal, Unavailable } from './refusals.js';

/** A request with a valid signature. */
export interface SignedRequest<Operation extends string> {
  readonly operation: Operation;
  readonly fields: Fields;
  readonly idempotencyKey: string | undefined;
  readonly requestId: string;
}

/**
 * The response, signed with the server's key. Test programs that misbehave on purpose set `key`, to sign with a
 * different key. 'hang-up' drops the connection.
 */
export type Reply = { readonly status: number; readonly text: string; readonly key?: Uint8Array } | 'hang-up';

/** In PEM. */
export interface ServerCertificates {
  readonly cert: string;
  readonly key: string;
  /** The certificate authorities of the clients that may call operations. Unset: any client may. */
  readonly clientCa?: string | undefined;
}

export interface SignedServerOptions<Operation extends string> {
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly operations: readonly Operation[];
  /** The path before the operation, such as `/bank` in `/bank/debit`. */
  readonly basePath?: string;
  readonly handle: (request: SignedRequest<Operation>) => Promise<Reply>;
  /** Called with errors that are answered with 500. The client gets no details of them. */
  readonly onFault: (error: unknown, operation: Operation | undefined, requestId: string | undefined) => void;
  /** How long a stop waits for requests in flight. By default it does not wait but cuts them off. */
  readonly drainMs?: number;
  /** The size limit for bodies on paths that are not operations. */
  readonly bodyLimit?: number;
  /** Unset: the server speaks plain HTTP. */
  readonly certificates?: ServerCertificates | undefined;
}

/** Checks timeouts every second, because Node's default of 30 s would let slow requests live longer. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16_384,
};
const HANDSHAKE_MS = 10_000;
/**
 * The maximum number of open connections, and of those from one address. The service and the institution need few. A
 * new connection without a request ends after 10 s.
 */
const MAX_CONNECTIONS = 4_000;
const MAX_CONNECTIONS_OF_ADDRESS = MAX_CONNECTIONS / 2;
/**
 * The memory for the bodies of requests in flight: one limit for operations, and one for all other paths. A flood of
 * requests to one of them does not use up the memory of the other.
 */
const OPERATION_BYTES = 16 * 2 ** 20;
const OTHER_BYTES = 32 * 2 ** 20;

/**
 * Creates the signed server of a bridge. Answers operations without fastify's routing, which would take twice as long.
 * Other routes can be added to the returned instance.
 */
export function createSignedServer<Operation extends string>(options: SignedServerOptions<Operation>): FastifyInstance {
  const { operations, basePath = '', onFault, drainMs = 0, bodyLimit = MAX_MESSAGE_BYTES, certificates } = options;
  const operationsByPath = new Map(operations.map((operation) => [`${basePath}/${operation}`, operation]));
  const inFlight = new InFlight();
  const operationBodies = new BodyRoom(OPERATION_BYTES);
  const otherBodies = new BodyRoom(OTHER_BYTES);
  const responses = new WeakMap<IncomingMessage, ServerResponse>();
  const app = fastify({
    logger: false,
    bodyLimit,
    forceCloseConnections: true,
    serverFactory: (handleOther) =>
      createListener(certificates, (request, response) => {
        inFlight.add(response);
        const operation = request.method === 'POST' ? operationsByPath.get(splitUrl(request).path) : undefined;
        if (operation === undefined) {
          responses.set(request, response);
          return handleOther(request, response);
        }
        serveSigned(operation, request, response, options, operationBodies).catch((error: unknown) =>
          fail(error, response, operation),
        );
      }),
  });
  app.server.maxConnections = MAX_CONNECTIONS;
  limitAddresses(app.server, MAX_CONNECTIONS_OF_ADDRESS);
  // After this hook, fastify closes the connections that are still open. If it did not, a connection without a first
  // request would delay the stop for ever: Node does not count it as idle, and checks no timeouts after `close`.
  app.addHook('preClose', async () => {
    app.server.close();
    await inFlight.drain(drainMs);
  });
  // Bodies stay bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (_request: unknown, raw: IncomingMessage) => {
    const body = await otherBodies.read(raw, responses.get(raw), bodyLimit);
    if (typeof body === 'string') throw toRefusal(body);
    return body;
  });
  app.setNotFoundHandler((_request, reply) => refuse(reply.hijack().raw, 404, 'not found'));
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof Refusal) return refuse(reply.hijack().raw, error.status, error.message);
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
    if (status < 500) refuse(reply.hijack().raw, status, 'the request cannot be read');
    else fail(error, reply.hijack().raw);
  });

  function fail(error: unknown, response: ServerResponse, operation?: Operation): void {
    onFault(error, operation, undefined);
    if (!response.headersSent) refuse(response, 500, 'internal error');
  }
  return app;
}

/** Closes new connections of an address that has `most` open ones, so that one address cannot use up all of them. */
function limitAddresses(server: Server, most: number): void {
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const count = open.get(address) ?? 0;
    if (count >= most) {
      socket.destroy();
      return;
    }
    open.set(address, count + 1);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}

function createListener(certificates: ServerCertificates | undefined, onRequest: RequestListener) {
  if (!certificates) return createServer(LIMITS, onRequest);
  // A client without a certificate can connect, because the institution sends its webhooks to the same port.
  const clients = { requestCert: certificates.clientCa !== undefined, rejectUnauthorized: false };
  const options = { ...LIMITS, handshakeTimeout: HANDSHAKE_MS, ...clients, ...toTlsOptions(certificates) };
  return createTlsServer(options, onRequest);
}

const toTlsOptions = ({ cert, key, clientCa }: ServerCertificates) => ({
  cert,
  key,
  ...(clientCa === undefined ? {} : { ca: clientCa }),
});

/** Uses renewed certificates for new connections. */
export function renewCertificates({ server }: FastifyInstance, certificates: ServerCertificates): void {
  if (server instanceof TlsServer) server.setSecureContext(toTlsOptions(certificates));
}

/**
 * Returns true if a trusted authority has issued the client's certificate. `authorized` is not enough: Node also sets
 * it for a client that has no certificate but resumes its session.
 */
function hasTrustedCertificate(socket: Socket): boolean {
  return socket instanceof TLSSocket && socket.authorized && socket.getPeerX509Certificate() !== undefined;
}

/** Starts listening and returns the server's URL. */
export async function listen(server: FastifyInstance, host: string, port: number): Promise<string> {
  await server.listen({ host, port });
  const { port: taken } = server.server.address() as AddressInfo;
  const protocol = server.server instanceof TlsServer ? 'https' : 'http';
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${taken}`;
}

/** The requests whose headers have arrived but whose response has not been sent. */
class InFlight {
  readonly #responses = new Set<ServerResponse>();
  #onEmpty: (() => void) | undefined;

  add(response: ServerResponse): void {
    this.#responses.add(response);
    if (this.#onEmpty) response.shouldKeepAlive = false;
    response.once('close', () => {
      this.#responses.delete(response);
      if (this.#responses.size === 0) this.#onEmpty?.();
    });
  }

  /** Waits until all requests are answered, for at most `withinMs`. Each response closes its connection. */
  async drain(withinMs: number): Promise<void> {
    for (const response of this.#responses) response.shouldKeepAlive = false;
    if (this.#responses.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#onEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

async function serveSigned<Operation extends string>(
  operation: Operation,
  request: IncomingMessage,
  response: ServerResponse,
  { key, clock, handle, onFault, certificates }: SignedServerOptions<Operation>,
  bodies: BodyRoom,
): Promise<void> {
  if (certificates?.clientCa !== undefined && !hasTrustedCertificate(request.socket)) {
    // Drops the body. Closes the connection, because a client can use a renewed certificate only on a new connection.
    request.resume();
    response.shouldKeepAlive = false;
    return refuse(response, 403, 'a client certificate is required');
  }
  const { path, query } = splitUrl(request);
  const body = await bodies.read(request, response, MAX_MESSAGE_BYTES);
  if (typeof body === 'string') {
    const { status, message } = toRefusal(body);
    return refuse(response, status, message);
  }
  const checked = checkSignature({ path, query, headers: request.headers, body, now: clock.now() }, key);
  // This refusal is not signed, because the client has not proved that it knows the key.
  if (!checked.trusted) return refuse(response, 401, checked.why);

  const { requestId, nonce } = checked;
  const reply = await handleTrusted(operation, request, body, requestId, handle).catch((error: unknown): Reply => {
    if (error instanceof Refusal) return { status: error.status, text: JSON.stringify({ error: error.message }) };
    onFault(error, operation, requestId);
    return { status: 500, text: INTERNAL_ERROR };
  });
  if (reply === 'hang-up') {
    request.socket.destroy();
    return;
  }
  const signature = signResponse(path, nonce, Buffer.from(reply.text), reply.key ?? key);
  send(response, reply.status, reply.text, { [BRIDGE_HEADERS.signature]: signature });
}

async function handleTrusted<Operation extends string>(
  operation: Operation,
  { headers }: IncomingMessage,
  body: Buffer,
  requestId: string,
  handle: SignedServerOptions<Operation>['handle'],
): Promise<Reply> {
  const fields = readFields(body);
  if (fields === undefined) throw new BadMessage('the body is not a JSON object');
  const given = headers[BRIDGE_HEADERS.idempotencyKey];
  return handle({ operation, fields, idempotencyKey: typeof given === 'string' ? given : undefined, requestId });
}

export const INTERNAL_ERROR = JSON.stringify({ error: 'internal error' });

function splitUrl({ url = '' }: IncomingMessage): { readonly path: string; readonly query: string } {
  const [path = '', query = ''] = url.split('?', 2);
  return { path, query };
}

function toRefusal(why: 'too-large' | 'no-room' | 'cut-off'): Refusal {
  if (why === 'no-room') return new Unavailable('too many unfinished requests');
  return new Refusal(why === 'too-large' ? 413 : 400, 'the request cannot be read');
}

function refuse(response: ServerResponse, status: number, error: string): void {
  send(response, status, JSON.stringify({ error }));
}

/** Sends headers and body as strings, because Node then writes them together. */
function send(response: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, {
    'content-type': CONTENT_TYPE,
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}
