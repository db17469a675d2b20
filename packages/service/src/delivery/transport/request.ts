import type { SignedPush } from '../receivers/message.js';

/** What requests to one address have in common. */
export interface Place {
  readonly url: URL;
  readonly origin: string;
  /** Up to the length of the body. */
  readonly head: string;
}

export function newPlace(url: URL): Place {
  const { origin, pathname, host } = url;
  return {
    url,
    origin,
    head: `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: Perennial\r\nContent-Length: `,
  };
}

export interface Request {
  readonly text: string;
  readonly encoding: 'latin1' | 'utf8';
}

/** Written as text, which spares a buffer. Only the body may hold more than ASCII, and few do. */
export function requestOf({ head }: Place, { headers, body }: SignedPush): Request {
  const length = Buffer.byteLength(body);
  return { text: `${head}${length}\r\n${headers}\r\n${body}`, encoding: length === body.length ? 'latin1' : 'utf8' };
}
