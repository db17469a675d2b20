import { MOST_ANSWER_BYTES } from '../schedule.js';
import { type Head, headReader } from './answer-head.js';
import { BadAnswer, Incoming, type Stretch } from './incoming.js';

/** The answer to a push. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  /** There was more of it than is read. */
  readonly isCut: boolean;
  /** Whether the connection can be used for another push. */
  readonly keepAlive: boolean;
}

/** Of an answer that is not complete: what its headers said, and the bytes that came after them. */
export type PartOfAnswer = Pick<Answer, 'status' | 'body'>;

export interface AnswerReader {
  /** The answer, once all of it has come, or as much as is read of one. */
  add(bytes: Buffer): Answer | undefined;
  /** The other end has closed the connection: the answer, if this is how it ends. */
  end(): Answer;
  /** What has come so far, once the headers have. */
  soFar(): PartOfAnswer | undefined;
}

/**
 * Reads one HTTP/1.1 answer as its bytes come. By hand, since it is all that a push needs, and the general client takes
 * more than twice the CPU (docs/decisions/0021-webhooks.md has the figures). Whatever is not well-formed is a BadAnswer,
 * and more than 64 KB after the headers are not read.
 */
export function answerReader(): AnswerReader {
  const input = new Incoming();
  const readHead = headReader(input);
  let head: Head | undefined;
  let bodyAt = 0;
  let readBody: BodyReader;

  function look(): Answer | undefined {
    if (!head) {
      head = readHead();
      if (!head) return undefined;
      bodyAt = input.at;
      readBody = bodyReader(head, input);
    }
    const body = readBody();
    if ((body ? input.at : input.size) - bodyAt > MOST_ANSWER_BYTES) {
      return {
        status: head.status,
        body: input.text([[bodyAt, bodyAt + MOST_ANSWER_BYTES]]),
        isCut: true,
        keepAlive: false,
      };
    }
    if (!body) return undefined;
    // More bytes than the answer has were not asked for.
    const keepAlive = head.keepAlive && input.at === input.size;
    return { status: head.status, body: input.text(body), isCut: false, keepAlive };
  }

  return {
    add(bytes) {
      input.add(bytes);
      return look();
    },
    soFar: () => head && { status: head.status, body: input.text([[bodyAt, input.size]]) },
    end() {
      if (!head) throw new BadAnswer('the answer ends in its headers');
      if (head.framing !== 'until-close') throw new BadAnswer('the answer ends too early');
      return { status: head.status, body: input.text([[bodyAt, input.size]]), isCut: false, keepAlive: false };
    },
  };
}

/** Where the body is, once all of it is there. */
type BodyReader = () => readonly Stretch[] | undefined;

function bodyReader({ framing, length }: Head, input: Incoming): BodyReader {
  if (framing === 'chunked') return chunkReader(input);
  if (framing === 'until-close') return () => undefined;
  return () => {
    const body = input.take(length);
    return body && [body];
  };
}

const CHUNK_SIZE = /^([0-9a-f]{1,8})[ \t]*(?:;|$)/i;

function chunkReader(input: Incoming): BodyReader {
  const chunks: Stretch[] = [];
  let next: 'size' | 'data' | 'end of data' | 'trailers' = 'size';
  let size = 0;
  return () => {
    for (;;) {
      if (next === 'data') {
        const data = input.take(size);
        if (!data) return undefined;
        chunks.push(data);
        next = 'end of data';
      }
      const line = input.line();
      if (line === undefined) return undefined;
      if (next === 'size') {
        const digits = CHUNK_SIZE.exec(line)?.[1];
        if (digits === undefined) throw new BadAnswer('a chunk has no size');
        size = Number.parseInt(digits, 16);
        next = size === 0 ? 'trailers' : 'data';
      } else if (next === 'end of data') {
        if (line !== '') throw new BadAnswer('a chunk is longer than its size');
        next = 'size';
      } else if (line === '') {
        return chunks;
      }
    }
  };
}

/** Taken: HTTP 200 and a JSON object whose `code` is the text `0`. Of one that is too long, nobody knows what it is. */
export function isAccepted({ status, body, isCut }: Pick<Answer, 'status' | 'body' | 'isCut'>): boolean {
  if (status !== 200 || isCut) return false;
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null && 'code' in parsed && parsed.code === '0';
  } catch {
    return false;
  }
}
