import { BadAnswer, type IncomingBytes } from './incoming-bytes.js';

const MAX_HEAD_BYTES = 16 * 1024;

/** The status and headers of an answer, as far as they matter here. */
export interface AnswerHead {
  readonly status: number;
  /** How the end of the body is found. */
  readonly framing: 'length' | 'chunked' | 'until-close';
  /** Of the body; only with framing `length`. */
  readonly length: number;
  readonly keepAlive: boolean;
}

/** What the lines so far have said. */
interface PartialHead {
  readonly status: number;
  readonly isHttp11: boolean;
  length?: number;
  chunked: boolean;
  close: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const LENGTH = /^[ \t]*(\d{1,15})[ \t]*$/;
const CHUNKED = /^[ \t]*chunked[ \t]*$/i;
const CLOSE = /(?:^|[ \t,])close(?:[ \t,]|$)/i;

/** Returns a function that reads on, and gives the head once all of it is there. Interim answers (1xx) are passed over. */
export function createHeadReader(input: IncomingBytes): () => AnswerHead | undefined {
  let head: PartialHead | undefined;
  return () => {
    for (;;) {
      const line = input.readLine();
      if ((line === undefined ? input.size : input.position) > MAX_HEAD_BYTES)
        throw new BadAnswer('the headers are too long');
      if (line === undefined) return undefined;
      if (!head) head = readStatusLine(line);
      else if (line !== '') readHeaderLine(head, line);
      else if (head.status >= 200) return completeHead(head);
      else head = undefined;
    }
  };
}

function readStatusLine(line: string): PartialHead {
  const parts = STATUS_LINE.exec(line);
  if (!parts) throw new BadAnswer('it is not HTTP/1.1');
  const status = Number(parts[2]);
  if (status === 101) throw new BadAnswer('the protocol was switched');
  return { status, isHttp11: parts[1] === '1', chunked: false, close: false };
}

/** Refuses what two readers could understand in two ways: a second length, a length and chunks, a folded line. */
function readHeaderLine(head: PartialHead, line: string): void {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
  if (!NAME.test(name)) throw new BadAnswer('a header is not well-formed');
  const value = line.slice(colon + 1);
  if (name === 'content-length') {
    const length = LENGTH.exec(value)?.[1];
    if (length === undefined || head.length !== undefined || head.chunked) throw new BadAnswer('its length is unclear');
    head.length = Number(length);
  } else if (name === 'transfer-encoding') {
    if (!CHUNKED.test(value) || head.length !== undefined || head.chunked || !head.isHttp11) {
      throw new BadAnswer('its length is unclear');
    }
    head.chunked = true;
  } else if (name === 'connection' && CLOSE.test(value)) {
    head.close = true;
  }
}

function completeHead({ status, isHttp11, length, chunked, close }: PartialHead): AnswerHead {
  const keepAlive = isHttp11 && !close;
  if (status === 204 || status === 304) return { status, framing: 'length', length: 0, keepAlive };
  if (chunked) return { status, framing: 'chunked', length: 0, keepAlive };
  if (length === undefined) return { status, framing: 'until-close', length: 0, keepAlive: false };
  return { status, framing: 'length', length, keepAlive };
}
