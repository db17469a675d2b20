import { type AnswerHead, createHeadReader } from './answer-head.js';
import { BadAnswer, type ByteRange, IncomingBytes } from './incoming-bytes.js';

export interface WantedAnswer {
  /** Maximum number of bytes read after the headers. */
  readonly maxBytes: number;
  /** Encoding of the body. In latin1 each character is one byte. */
  readonly encoding: 'utf8' | 'latin1';
  /** The name of an additional header to read, in lower case. */
  readonly header?: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly header?: string | undefined;
  readonly isCut: boolean;
  /** True if the connection can be used for the next request. */
  readonly keepAlive: boolean;
  /** The time in ms for which the other end keeps an idle connection, if its answer says so. */
  readonly keptMs?: number | undefined;
}

/** An incomplete answer: its status, and the bytes received after the headers. */
export type PartialAnswer = Pick<Answer, 'status' | 'body'>;

/** Reads an HTTP/1.1 answer as its bytes arrive. Throws BadAnswer if it is malformed. */
export function createAnswerReader({ maxBytes, encoding, header }: WantedAnswer) {
  const input = new IncomingBytes();
  const readHead = createHeadReader(input, header);
  let head: AnswerHead | undefined;
  let bodyStart = 0;
  let readBody: BodyReader;

  function readOn(): Answer | undefined {
    if (!head) {
      head = readHead();
      if (!head) return undefined;
      bodyStart = input.position;
      readBody = createBodyReader(head, input);
    }
    const body = readBody();
    if ((body ? input.position : input.size) - bodyStart > maxBytes) {
      return {
        status: head.status,
        body: input.textOf([[bodyStart, bodyStart + maxBytes]], encoding),
        isCut: true,
        keepAlive: false,
      };
    }
    if (!body) return undefined;
    // Does not reuse the connection if bytes follow the answer, because they belong to no request.
    const keepAlive = head.keepAlive && input.position === input.size;
    const { status, wanted, keptMs } = head;
    return { status, body: input.textOf(body, encoding), header: wanted, isCut: false, keepAlive, keptMs };
  }

  return {
    /** Returns the answer when it is complete, or when it is cut at the limit. */
    add(bytes: Buffer): Answer | undefined {
      input.add(bytes);
      return readOn();
    },
    /** Returns the part that has arrived. Undefined until the headers are complete. */
    partialAnswer: (): PartialAnswer | undefined =>
      head && { status: head.status, body: input.textOf([[bodyStart, input.size]], encoding) },
    /** Called when the connection is closed. Returns the answer if the close marks its end, otherwise throws. */
    endAtClose(): Answer {
      if (!head) throw new BadAnswer('the answer ends in its headers');
      if (head.framing !== 'until-close') throw new BadAnswer('the answer ends too early');
      const { status, wanted } = head;
      const body = input.textOf([[bodyStart, input.size]], encoding);
      return { status, body, header: wanted, isCut: false, keepAlive: false };
    },
  };
}

export type AnswerReader = ReturnType<typeof createAnswerReader>;

/** Reads the bytes that have arrived. Returns the ranges of the body when it is complete. */
type BodyReader = () => readonly ByteRange[] | undefined;

function createBodyReader({ framing, length }: AnswerHead, input: IncomingBytes): BodyReader {
  if (framing === 'chunked') return createChunkReader(input);
  if (framing === 'until-close') return () => undefined;
  return () => {
    const body = input.readBytes(length);
    return body && [body];
  };
}

const CHUNK_SIZE = /^([0-9a-f]{1,8})[ \t]*(?:;|$)/i;

function createChunkReader(input: IncomingBytes): BodyReader {
  const chunks: ByteRange[] = [];
  let next: 'size' | 'data' | 'end of data' | 'trailers' = 'size';
  let size = 0;
  return () => {
    for (;;) {
      if (next === 'data') {
        const data = input.readBytes(size);
        if (!data) return undefined;
        chunks.push(data);
        next = 'end of data';
      }
      const line = input.readLine();
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
