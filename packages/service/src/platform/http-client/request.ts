/** A URL, and the parts that all requests to it have in common. */
export interface Endpoint {
  readonly url: URL;
  readonly origin: string;
  readonly path: string;
  /** The text of a request up to the value of Content-Length. */
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

/** The headers and the body of a request. Each header ends with CR LF. */
export interface Message {
  readonly headers: string;
  readonly body: string;
}

export interface Request {
  readonly text: string;
  readonly encoding: 'latin1' | 'utf8';
}

/**
 * Returns a request as text, which saves a buffer. If the body is ASCII, as most bodies are, the encoding is latin1.
 */
export function createRequest({ requestStart }: Endpoint, { headers, body }: Message): Request {
  const length = Buffer.byteLength(body);
  return {
    text: `${requestStart}${length}\r\n${headers}\r\n${body}`,
    encoding: length === body.length ? 'latin1' : 'utf8',
  };
}
