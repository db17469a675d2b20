import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { CODES, envelopeAround, envelopeText, formatTime, HEADERS } from '@perennial/wire';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { TextPieces, WrittenAnswer } from '../../platform/answers/answer.js';
import type { Clock } from '../../platform/clock.js';
import { isAnswerEnded, onAnswerEnd } from '../answers/answer-end.js';
import { JSON_TYPE, sendText, toRefusal } from '../answers/respond.js';
import { addWarnings } from '../answers/warnings.js';
import type { RequestPlace } from '../limits/answer-places.js';

/**
 * If all pieces of an answer together are shorter than this, they fit into the network buffers and are sent whole. A
 * longer answer is sent in pieces of about this size.
 */
const SHORT_ANSWER = 65_536;

export interface LongAnswerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Time limit of a whole long answer (ms). */
  readonly answerTimeout: number;
  readonly isDraining: () => boolean;
}

type CutReason = NonNullable<FastifyReply['cut']>;

/**
 * Sends answers. Produces a long answer piece by piece while its client reads, so that the node holds only one piece.
 * Cuts the answer off if the client takes too long, a piece fails, or the node stops.
 */
export function createAnswerSender({ clock, log, answerTimeout, isDraining }: LongAnswerDeps) {
  const open = new Set<(why: CutReason) => void>();

  /** Sends an answer. Collects pieces up to the size of a short answer, and streams only if there are more. */
  function send(reply: FastifyReply, answer: WrittenAnswer, place: RequestPlace): FastifyReply | Promise<FastifyReply> {
    const { data } = answer;
    const message = addWarnings(reply, answer.message);
    const { id } = reply.request;
    const timestamp = formatTime(clock.now());
    return typeof data === 'string'
      ? sendWhole(reply, answer, envelopeText(answer, message, data, id, timestamp), place)
      : sendPieces(reply, answer, iteratorOf(data), envelopeAround(answer, message, id, timestamp), place);
  }

  async function sendPieces(
    reply: FastifyReply,
    answer: WrittenAnswer,
    pieces: PieceIterator,
    { before, after }: ReturnType<typeof envelopeAround>,
    place: RequestPlace,
  ): Promise<FastifyReply> {
    let text = before;
    while (text.length < SHORT_ANSWER) {
      const { done, value } = await pieces.next();
      if (done) return sendWhole(reply, answer, text + after, place);
      // The client has hung up and gets nothing. The empty answer only ends the request, which is then recorded.
      if (isAnswerEnded(reply)) return sendWhole(reply, answer, '', place);
      text += value;
    }
    await place.take();
    if (isAnswerEnded(reply)) return sendWhole(reply, answer, '', place);
    setAnswerHeaders(reply, answer);
    return stream(reply, joinPieces(text, pieces, after), place);
  }

  function stream(reply: FastifyReply, texts: AsyncIterable<string>, place: RequestPlace): FastifyReply {
    const { raw, request } = reply;
    // Resets the connection, so that no client mistakes a part for the whole answer: in HTTP/1.0 an answer ends when
    // its connection ends.
    const cut = (why: CutReason) => {
      reply.cut ??= why;
      request.raw.socket.resetAndDestroy();
    };
    const timer = setTimeout(cut, answerTimeout, 'slow');
    open.add(cut);
    raw.once('finish', () => isDraining() && request.raw.socket.end());
    const body = Readable.from(texts, { objectMode: false, highWaterMark: 1 });
    onAnswerEnd(reply, () => {
      clearTimeout(timer);
      open.delete(cut);
      place.release();
      body.destroy();
    });
    body.once('error', (error) => {
      reply.resultCode = toRefusal(error).result.code;
      log.error(
        { err: error, requestId: request.id, path: request.routeOptions.url },
        'fault in the middle of an answer',
      );
      cut('fault');
    });
    return reply.code(CODES.SUCCESS.http).header('content-type', JSON_TYPE).send(body);
  }

  return {
    send,
    cutAll(): void {
      for (const cut of open) cut('stopping');
    },
  };
}

export type AnswerSender = ReturnType<typeof createAnswerSender>;

function setAnswerHeaders(reply: FastifyReply, { code, message, replayed }: WrittenAnswer): void {
  reply.resultCode = code;
  if (code !== CODES.SUCCESS.code) reply.refusalMessage = message;
  if (replayed) void reply.header(HEADERS.idempotencyReplayed, 'true');
}

function sendWhole(reply: FastifyReply, answer: WrittenAnswer, text: string, place: RequestPlace): FastifyReply {
  place.release();
  setAnswerHeaders(reply, answer);
  return sendText(reply, CODES.SUCCESS.http, text);
}

type PieceIterator = Iterator<string> | AsyncIterator<string>;

function iteratorOf(pieces: TextPieces): PieceIterator {
  return Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
}

async function* joinPieces(first: string, pieces: PieceIterator, last: string) {
  let text = first;
  try {
    for (;;) {
      if (text.length >= SHORT_ANSWER) {
        yield text;
        text = '';
        await waitForTurn();
      }
      const { done, value } = await pieces.next();
      if (done) break;
      text += value;
    }
  } finally {
    await pieces.return?.();
  }
  yield text + last;
}

let turn: Promise<void> = Promise.resolve();

/** Lets one piece of one answer pass per turn of the event loop, so that other requests are served between pieces. */
function waitForTurn(): Promise<void> {
  turn = turn.then(() => setImmediate());
  return turn;
}
