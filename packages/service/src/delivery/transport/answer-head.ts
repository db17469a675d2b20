import { BadAnswer, type Incoming } from './incoming.js';

const MOST_HEAD_BYTES = 16 * 1024;

/** The status and headers of an answer, as far as they matter here. */
export interface Head {
  readonly status: number;
  readonly framing: 'length' | 'chunked' | 'until-close';
  /** Of the body; with `length` alone. */
  readonly length: number;
  readonly keepAlive: boolean;
}

interface Draft {
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

/** Reads up to the end of the headers, over several calls if need be. Interim answers are passed over. */
export function headReader(input: Incoming): () => Head | undefined {
  let draft: Draft | undefined;
  return () => {
    for (;;) {
      const line = input.line();
      if ((line === undefined ? input.size : input.at) > MOST_HEAD_BYTES)
        throw new BadAnswer('the headers are too long');
      if (line === undefined) return undefined;
      if (!draft) draft = readStatus(line);
      else if (line !== '') readHeader(draft, line);
      else if (draft.status >= 200) return headOf(draft);
      else draft = undefined;
    }
  };
}

function readStatus(line: string): Draft {
  const parts = STATUS_LINE.exec(line);
  if (!parts) throw new BadAnswer('it is not HTTP/1.1');
  const status = Number(parts[2]);
  if (status === 101) throw new BadAnswer('the protocol was switched');
  return { status, isHttp11: parts[1] === '1', chunked: false, close: false };
}

/** What two readers could understand in two ways is refused: a second length, a length and chunks, a folded line. */
function readHeader(draft: Draft, line: string): void {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
  if (!NAME.test(name)) throw new BadAnswer('a header is not well-formed');
  const value = line.slice(colon + 1);
  if (name === 'content-length') {
    const length = LENGTH.exec(value)?.[1];
    if (length === undefined || draft.length !== undefined || draft.chunked)
      throw new BadAnswer('its length is unclear');
    draft.length = Number(length);
  } else if (name === 'transfer-encoding') {
    if (!CHUNKED.test(value) || draft.length !== undefined || draft.chunked || !draft.isHttp11) {
      throw new BadAnswer('its length is unclear');
    }
    draft.chunked = true;
  } else if (name === 'connection' && CLOSE.test(value)) {
    draft.close = true;
  }
}

function headOf({ status, isHttp11, length, chunked, close }: Draft): Head {
  const keepAlive = isHttp11 && !close;
  if (status === 204 || status === 304) return { status, framing: 'length', length: 0, keepAlive };
  if (chunked) return { status, framing: 'chunked', length: 0, keepAlive };
  if (length === undefined) return { status, framing: 'until-close', length: 0, keepAlive: false };
  return { status, framing: 'length', length, keepAlive };
}
