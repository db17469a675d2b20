import { type EncryptionVersion, HEADER_KEYS, HEADERS, Rejection, sha256Hex } from '@perennial/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Channel } from '../catalog/channels/channel.js';
import { type Answer, describedAnswer, successAnswer, type WrittenAnswer } from '../platform/answers/answer.js';
import { createSerializer } from '../platform/answers/serialize.js';
import type { Clock } from '../platform/clock.js';
import type { Transactional } from '../platform/db/database.js';
import type { ConnectionShares } from '../platform/db/sharing/connection-shares.js';
import type { createIdempotentRunner, IdempotentRequest, IdempotentRun } from '../platform/idempotency/run-once.js';
import { type Origin, readTraceparent, TRACEPARENT } from '../platform/tracing.js';
import type { OrderText } from '../subscriptions/store/orders/order-texts-sql.js';
import type { OrderReference } from '../subscriptions/store/orders/orders-sql.js';
import { type AnswerPlaces, RequestPlace } from './limits/answer-places.js';
import type { AuthenticationFailures } from './limits/authentication-failures.js';
import type { FieldLimit } from './limits/field-limit.js';
import { LARGE_BODY_BYTES, type LargeBodies } from './limits/large-bodies.js';
import type { NodeLoad, TakenRequest } from './limits/node-load.js';
import type { AnswerSender } from './long-answers/long-answers.js';
import type { createAdmission } from './requests/admission.js';
import { hashMeaning, writeCanonical } from './requests/body-meaning.js';
import type { RefusalExplainer } from './requests/explain-refusal.js';
import { type JsonObject, readJsonObject } from './requests/json-body.js';
import type { RequestWarnings } from './requests/request-warnings.js';
import {
  checkTimestamp,
  readIdempotencyKey,
  readSignedHeaders,
  type SignedRequestHeaders,
} from './requests/signed-headers.js';
import { splitUrl } from './requests/split-url.js';
import { createValidator } from './requests/validate.js';
import type { Route } from './routes.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the headers were checked and found to be well-formed. */
    signedHeaders: SignedRequestHeaders | null;
    /** True after the signature and the channel's rate were checked. */
    isAdmitted: boolean;
  }
}

export interface PipelineDeps {
  readonly load: NodeLoad;
  readonly shares: ConnectionShares;
  readonly clock: Clock;
  readonly failures: AuthenticationFailures;
  readonly bodies: LargeBodies;
  readonly admit: ReturnType<typeof createAdmission>;
  /** Sandbox only. */
  readonly explainer?: RefusalExplainer | undefined;
  /** Sandbox only. */
  readonly warnings?: RequestWarnings | undefined;
  readonly limitFields: FieldLimit;
  readonly runOnce: ReturnType<typeof createIdempotentRunner>;
  readonly places: AnswerPlaces;
  readonly answers: AnswerSender;
}

interface AdmittedRequest {
  readonly channel: Channel;
  readonly texts: Map<string, string>;
  readonly once: IdempotentRequest & { readonly database: Transactional };
  readonly place: RequestPlace;
  readonly body: JsonObject;
  /** The order that the admission statement has already read. */
  readonly found: OrderText | undefined;
}

/**
 * Creates the steps of a request, in the order in which their errors are answered (docs/request.md). `open` runs before
 * the body is read. `serve` runs afterwards, with the raw bytes of the body.
 */
export function createPipeline(
  route: Route,
  {
    load,
    shares,
    clock,
    failures,
    bodies,
    admit,
    explainer,
    warnings,
    limitFields,
    runOnce,
    places,
    answers,
  }: PipelineDeps,
) {
  const { endpoint, render, orderOf } = route;
  const validate = createValidator(endpoint);
  const serialize = createSerializer(endpoint.response);
  const writeSuccess = (data: unknown) => successAnswer(serialize(data));
  // The answer is rendered before it is stored, so that requests that share a statement are answered together. That
  // gives 7% more creations per second.
  const createAnswerWriter = (channel: Channel) =>
    render
      ? (description: unknown) => describedAnswer(description as object, render(channel, description))
      : writeSuccess;

  /** Returns a promise only if the check of authentication failures returns one. */
  function open(request: FastifyRequest): Promise<void> | undefined {
    const checked = failures.check(request);
    return checked ? checked.then(() => readHeaders(request)) : readHeaders(request);
  }

  function readHeaders(request: FastifyRequest): undefined {
    const headers = readSignedHeaders(request.raw, endpoint.token);
    request.signedHeaders = headers;
    checkTimestamp(headers.timestamp, clock.now());
  }

  async function serve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    let visit: TakenRequest | undefined;
    try {
      // The request counts as load from here on. A client that sends its body slowly uses no capacity before this
      // point.
      visit = load.enter(failures.knownChannel(request), request.raw.socket);
      return await serveBody(request, reply, raw, visit);
    } finally {
      visit?.leave();
      bodies.release(raw);
    }
  }

  async function serveBody(
    request: FastifyRequest,
    reply: FastifyReply,
    raw: Buffer,
    visit: TakenRequest,
  ): Promise<FastifyReply> {
    const headers = request.signedHeaders;
    if (!headers) throw new Error('serve() was called before open()');
    // The body may have taken half a minute.
    checkTimestamp(headers.timestamp, clock.now());
    const bodySha256 = isLargeBody(raw) ? await bodies.runInTurn(() => sha256Hex(raw)) : sha256Hex(raw);
    const [path, query] = splitUrl(request.raw.url ?? '');
    const idempotencyKey = endpoint.write ? keyOrRefusal(request) : undefined;
    const readJson = createBodyOnce(() => readJsonObject(raw, request.headers['content-encoding']));
    const readBody = createBodyOnce(() => validate(readJson()));
    const readInTurn = () => (isLargeBody(raw) ? bodies.runInTurn(readBody) : readBody());
    const { channel, idempotency, found } = await admit(
      {
        headers,
        path,
        query,
        bodySha256,
        address: request.ip,
        idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : undefined,
        findReference: orderOf && (() => findReference(orderOf, readInTurn)),
      },
      visit,
    );
    visit.markAdmitted();
    request.isAdmitted = true;
    explainer?.noteAdmitted(headers);
    if (idempotencyKey instanceof Error) throw idempotencyKey;
    if (warnings && !isLargeBody(raw)) request.warnings = warnings.listUnknownFields(endpoint.request, readJson());
    const body = isLargeBody(raw) ? await readInTurn() : readBody();
    const { channelId } = channel;
    const warn = warnings && !isLargeBody(raw) && createWarner(request, channel, body);
    const texts = new Map<string, string>();
    const readCanonical = createBodyOnce(() => writeCanonical(endpoint.request, raw, body));
    if (idempotencyKey !== undefined && isLargeBody(raw)) await bodies.runInTurn(readCanonical);
    const once = {
      database: shares.databaseFor(channelId, visit),
      caller: visit,
      channelId,
      key: idempotencyKey,
      path,
      bodySha256: Buffer.from(bodySha256, 'hex'),
      meaning: createBodyOnce(() => hashMeaning({ channel, texts }, readCanonical())),
      known: idempotency,
    };
    const place = new RequestPlace(places, channelId, visit);
    try {
      const result = await act(request, { channel, texts, once, place, body, found });
      if (warn) await warn(result.code);
      // The work is done. The request no longer counts as load, because a slow client may take long to read the answer.
      visit.markBegun();
      visit.leave();
      return await answers.send(reply, withData(result, channel), place);
    } catch (error) {
      place.release();
      if (warn && error instanceof Rejection) await warn(error.result.code);
      throw error;
    }
  }

  /** Sandbox only: returns a function that adds the probable cause of a result code to the request's warnings. */
  function createWarner(request: FastifyRequest, channel: Channel, body: JsonObject) {
    return async (code: string) => {
      request.warnings?.push(...((await warnings?.explain(code, channel, body)) ?? []));
    };
  }

  /** Runs the action once per idempotency key. If the action must wait for a place, it is run again from the start. */
  function act(
    request: FastifyRequest,
    { channel, texts, once: asked, place, body, found }: AdmittedRequest,
  ): Promise<Answer> {
    const { caller, database } = asked;
    const runAction = async (once: IdempotentRun) => {
      const answer = createAnswerWriter(channel);
      return route.action(
        {
          channel,
          texts,
          askedEncryption: readAskedEncryption(request),
          origin: readOrigin(request),
          caller,
          database,
          once,
          answer,
          place,
        },
        body,
        found,
      );
    };
    // The limit includes `runOnce`, which decrypts the fields of a resend that is spelled differently.
    return limitFields(channel, () => place.retryWhenFree(() => runOnce(asked, runAction)));
  }

  function withData(result: Answer, channel: Channel): WrittenAnswer {
    if (!('description' in result)) return result;
    if (!render) throw new Error(`${endpoint.path} does not describe its answers`);
    return { ...result, data: result.data ?? render(channel, result.description) };
  }

  return { open, serve };
}

/** Reads the body once and caches it. Errors are not cached: the next call reads again and throws again. */
function createBodyOnce<Body>(read: () => Body): () => Body {
  let body: { readonly value: Body } | undefined;
  return () => {
    body ??= { value: read() };
    return body.value;
  };
}

/** Returns the order to which the body refers. Undefined for an invalid body, which is refused after admission. */
function findReference(
  orderOf: NonNullable<Route['orderOf']>,
  readBody: () => unknown,
): Promise<OrderReference | undefined> | OrderReference | undefined {
  try {
    const body = readBody();
    return body instanceof Promise ? body.then(orderOf).catch(() => undefined) : orderOf(body);
  } catch {
    return undefined;
  }
}

const isLargeBody = (body: Buffer) => body.length > LARGE_BODY_BYTES;

function readOrigin({ id, headers }: FastifyRequest): Origin {
  return { requestId: id, traceparent: readTraceparent(headers[TRACEPARENT]) };
}

/**
 * Returns the key. Returns the error of a malformed key instead of throwing it, because parameter errors are answered
 * only after authentication.
 */
function keyOrRefusal(request: FastifyRequest): string | undefined | Error {
  try {
    return readIdempotencyKey(request.raw);
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

/** Throws PARAM_INVALID for an unknown version, because the header is not part of authentication. */
function readAskedEncryption({ headers }: FastifyRequest): EncryptionVersion | undefined {
  const asked = headers[HEADER_KEYS.encryptedFields];
  if (asked === undefined || asked === 'v1' || asked === 'v2') return asked;
  throw new Rejection('PARAM_INVALID', `header ${HEADERS.encryptedFields} must be v1 or v2`);
}
