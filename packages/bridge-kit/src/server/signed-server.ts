import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
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
import { BadMessage, Refusal } from './refusals.js';

/** A request whose signature holds. */
export interface SignedRequest<Operation extends string> {
  readonly operation: Operation;
  readonly fields: Fields;
  readonly idempotencyKey: string | undefined;
  readonly requestId: string;
}

/** What goes back: signed with the key, or with another one by a program that lies on purpose; or the connection is dropped. */
export type Reply = { readonly status: number; readonly text: string; readonly key?: Uint8Array } | 'hang-up';

export interface SignedServerOptions<Operation extends string> {
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly operations: readonly Operation[];
  /** What stands before the operation in a path, as `/bank` of `/bank/debit`. */
  readonly basePath?: string;
  readonly handle: (request: SignedRequest<Operation>) => Promise<Reply>;
  /** An error that is no `Refusal`: the caller is told nothing of it. */
  readonly onFault: (error: unknown, operation: Operation | undefined, requestId: string | undefined) => void;
  /** Whether a stop cuts off requests that are under way. */
  readonly forceClose?: boolean;
  /** Of bodies of other paths. */
  readonly bodyLimit?: number;
}

/** A slow request ends when it is looked at, which Node does every 30 s unless told. */
const LIMITS = { requestTimeout: 30_000, connectionsCheckingInterval: 5_000, keepAliveTimeout: 75_000 };
/**
 * Whoever holds all of them open shuts the service out, so there are many: an idle one costs some kilobytes and ends after 30 s. It is
 * still below the usual limits of open files, beyond which the database could not be reached either.
 */
const MAX_CONNECTIONS = 10_000;

/**
 * The signed side of a bridge. Operations are answered in front of the framework, which would take twice as long; whatever else the
 * program serves is added to what is returned.
 */
export function createSignedServer<Operation extends string>(options: SignedServerOptions<Operation>): FastifyInstance {
  const { operations, basePath = '', onFault, forceClose = false, bodyLimit = MAX_MESSAGE_BYTES } = options;
  const operationsByPath = new Map(operations.map((operation) => [`${basePath}/${operation}`, operation]));
  const app = fastify({
    logger: false,
    bodyLimit,
    forceCloseConnections: forceClose || 'idle',
    serverFactory: (handleOther) =>
      createServer(LIMITS, (request, response) => {
        const operation = request.method === 'POST' ? operationsByPath.get(splitUrl(request).path) : undefined;
        if (operation === undefined) return handleOther(request, response);
        serveSigned(operation, request, response, options, () => isStopping).catch((error: unknown) =>
          fail(error, response, operation),
        );
      }),
  });
  app.server.maxConnections = MAX_CONNECTIONS;
  let isStopping = false;
  app.addHook('preClose', async () => {
    isStopping = true;
  });
  // Bodies stay bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setNotFoundHandler((_request, reply) => refuse(reply.hijack().raw, 404, 'there is nothing here'));
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

async function serveSigned<Operation extends string>(
  operation: Operation,
  request: IncomingMessage,
  response: ServerResponse,
  { key, clock, handle, onFault }: SignedServerOptions<Operation>,
  isStopping: () => boolean,
): Promise<void> {
  const { path, query } = splitUrl(request);
  const body = await readBody(request);
  if (body === 'cut-off') return;
  if (body === 'too-large') return refuse(response, 413, 'the request cannot be read');
  const checked = checkSignature({ path, query, headers: request.headers, body, now: clock.now() }, key);
  // The refusal is not signed: a client that cannot sign gets no signature.
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
  // A connection that is kept alive would hold up the stop.
  if (isStopping()) response.shouldKeepAlive = false;
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

function readBody(request: IncomingMessage): Promise<Buffer | 'too-large' | 'cut-off'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request
      .on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > MAX_MESSAGE_BYTES) resolve('too-large');
        else chunks.push(chunk);
      })
      .on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
      .on('error', () => resolve('cut-off'));
  });
}

function refuse(response: ServerResponse, status: number, error: string): void {
  send(response, status, JSON.stringify({ error }));
}

/** Head and body as texts: Node then writes them at once. */
function send(response: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, {
    'content-type': CONTENT_TYPE,
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}
