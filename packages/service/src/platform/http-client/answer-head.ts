import { BadAnswer, type IncomingBytes } from './incoming-bytes.js';

const MAX_HEAD_BYTES = 16 * 1024;

/** The status and those headers of an answer that the client needs. */
export interface AnswerHead {
  readonly status: number;
  /** How the reader finds the end of the body. */
  readonly framing: 'length' | 'chunked' | 'until-close';
  /** The length of the body. Set only if `framing` is `length`. */
  readonly length: number;
  readonly keepAlive: boolean;
  readonly keptMs?: number | undefined;
  readonly wanted?: string | undefined;
}

interface PartialHead {
  readonly status: number;
  readonly isHttp11: boolean;
  length?: number;
  chunked: boolean;
  close: boolean;
  keptMs?: number;
  wanted?: string;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const LENGTH = /^[ \t]*(\d{1,15})[ \t]*$/;
const CHUNKED = /^[ \t]*chunked[ \t]*$/i;
const KEPT_SECONDS = /(?:^|[ \t,])timeout=(\d{1,6})(?:[ \t,]|$)/i;
const CLOSE = /(?:^|[ \t,])close(?:[ \t,]|$)/i;

/**
 * Returns a function to call when more bytes have arrived. It returns the head as soon as the head is complete. Skips
 * interim answers (1xx), but throws for 101.
 */
export function createHeadReader(input: IncomingBytes, wanted?: string): () => AnswerHead | undefined {
  let head: PartialHead | undefined;
  return () => {
    for (;;) {
      const line = input.readLine();
      if ((line === undefined ? input.size : input.position) > MAX_HEAD_BYTES)
        throw new BadAnswer('the headers are too long');
      if (line === undefined) return undefined;
      if (!head) head = readStatusLine(line);
      else if (line !== '') readHeaderLine(head, line, wanted);
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

/**
 * Reads a header. Throws if headers are malformed or ambiguous, such as two lengths, a length and chunks, or a folded
 * line.
 */
function readHeaderLine(head: PartialHead, line: string, wanted: string | undefined): void {
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
  } else if (name === 'keep-alive') {
    const seconds = KEPT_SECONDS.exec(value)?.[1];
    if (seconds !== undefined) head.keptMs = Number(seconds) * 1000;
  } else if (name === wanted) {
    // If the wanted header is repeated, its value becomes empty, because it cannot be trusted.
    head.wanted = head.wanted === undefined ? value.trim() : '';
  }
}

function completeHead({ status, isHttp11, length, chunked, close, keptMs, wanted }: PartialHead): AnswerHead {
  const keepAlive = isHttp11 && !close;
  const rest = { status, keepAlive, keptMs, wanted };
  if (status === 204 || status === 304) return { ...rest, framing: 'length', length: 0 };
  if (chunked) return { ...rest, framing: 'chunked', length: 0 };
  if (length === undefined) return { ...rest, framing: 'until-close', length: 0, keepAlive: false };
  return { ...rest, framing: 'length', length };
}
