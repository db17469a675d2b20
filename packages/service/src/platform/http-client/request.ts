/** An address, and the common parts of all requests to it. */
export interface Endpoint {
  readonly url: URL;
  readonly origin: string;
  readonly path: string;
  /** Text of a request up to the length of its body. */
  readonly requestStart: string;
}

export function createEndpoint(url: URL): Endpoint {
  const { origin, pathname, host } = url;
  return {
    url,
    origin,
    path: pathname,
    requestStart: `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: Perennial\r\nContent-Length: `,
  };
}

/** Each header ends with CR LF. */
export interface Message {
  readonly headers: string;
  readonly body: string;
}

export interface Request {
  readonly text: string;
  readonly encoding: 'latin1' | 'utf8';
}

/** Writes a request as text, which saves a buffer. Only the body may contain non-ASCII characters; few do. */
export function createRequest({ requestStart }: Endpoint, { headers, body }: Message): Request {
  const length = Buffer.byteLength(body);
  return {
    text: `${requestStart}${length}\r\n${headers}\r\n${body}`,
    encoding: length === body.length ? 'latin1' : 'utf8',
  };
}
