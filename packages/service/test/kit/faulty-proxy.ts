import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request as received. */
export interface Seen {
  readonly endpoint: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** The body of the service's answer, also if the proxy dropped the answer. */
  answer?: string;
}

/**
 * What happens to a request: the proxy answers it with an error, or the service handles it and the proxy drops the
 * answer.
 */
export type Fault = 'lose-the-answer' | { status: number; headers?: Record<string, string>; body: string };

export interface FaultyProxy {
  readonly url: string;
  readonly seen: readonly Seen[];
  close(): void;
}

const PREFIX = '/openapi/v1/';

/** Starts a proxy to a service or a bridge. Requests to some endpoints meet a fault; all others pass unchanged. */
export async function faultyProxy(
  serviceUrl: string,
  faults: Readonly<Record<string, (seen: Seen) => Fault>>,
  /** Returns true if the proxy should break the request. `isFirst`: it is the first request to its endpoint. */
  isFaulty = (isFirst: boolean) => isFirst,
): Promise<FaultyProxy> {
  const seen: Seen[] = [];
  const server = http.createServer(async (request, response) => {
    const body = await buffer(request);
    const endpoint = (request.url ?? '').replace(PREFIX, '');
    const isFirst = !seen.some((one) => one.endpoint === endpoint);
    const came: Seen = { endpoint, headers: request.headers, body: body.toString() };
    seen.push(came);
    const fault = isFaulty(isFirst) ? faults[endpoint]?.(came) : undefined;
    if (typeof fault === 'object') {
      response.writeHead(fault.status, fault.headers).end(fault.body);
      return;
    }
    const answer = await pass(serviceUrl, request, body);
    came.answer = answer.body.toString();
    if (fault === 'lose-the-answer') request.socket.destroy();
    else response.writeHead(answer.status, keptOpen(answer.headers)).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * Removes the header that would close the connection, because more can go wrong for a client that reuses its
 * connection.
 */
function keptOpen({ connection: _, ...others }: http.IncomingHttpHeaders): http.IncomingHttpHeaders {
  return others;
}

function pass(serviceUrl: string, { url, method, headers }: http.IncomingMessage, body: Buffer) {
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    const request = http.request(`${serviceUrl}${url}`, { method, headers, agent: false });
    request.on('error', reject).on('response', async (response) => {
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) });
    });
    request.end(body);
  });
}
