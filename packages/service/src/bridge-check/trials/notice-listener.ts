import { once } from 'node:events';
import http from 'node:http';
import {
  BRIDGE_HEADERS,
  checkSignature,
  type Fields,
  MAX_MESSAGE_BYTES,
  numberOf,
  readFields,
} from '@perennial/wire/bridge';
import { findFlaw } from '../exchange/answers.js';
import { NotTried } from '../findings.js';
import type { Given } from '../given.js';

export interface Notice {
  readonly fields: Fields;
  readonly nonce: string;
  readonly flaw?: string;
}

export interface NoticeListener {
  /** Makes the listener accept only notices of this debit, because notices of other debits belong to the service. */
  expect(attemptNo: string): void;
  /** Resolves when a notice was answered with 200, or at the timeout. Returns the notices that arrived until then. */
  notices(): Promise<readonly Notice[]>;
  stop(): Promise<void>;
}

/** Listens in place of the service: answers the first valid notice with 500, and the next with 200. */
export async function startNoticeListener(
  { port, host }: { readonly port: number; readonly host: string },
  { key, clock, waitMs }: Given,
): Promise<NoticeListener> {
  const received: Notice[] = [];
  let expected: string | undefined;
  let good = 0;
  const server = http.createServer(async (request, response) => {
    const body = await readBody(request);
    if (body === undefined) return response.writeHead(413).end();
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const checked = checkSignature({ path, query, headers: request.headers, body, now: clock.now() }, key);
    const fields = readFields(body) ?? {};
    if (fields['attemptNo'] !== expected) return response.writeHead(503).end();
    const flaw = checked.trusted ? findNoticeFlaw(fields, checked.requestId) : `a notice arrived: ${checked.why}`;
    const nonce = String(request.headers[BRIDGE_HEADERS.nonce]);
    received.push({ fields, nonce, ...(flaw !== undefined && { flaw }) });
    if (flaw !== undefined) return response.writeHead(checked.trusted ? 400 : 401).end();
    good += 1;
    response.writeHead(good === 1 ? 500 : 200).end();
    return server.emit('notice');
  });
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new NotTried(`--listen failed: ${error.code ?? error.message}`);
  });

  return {
    expect(attemptNo) {
      expected = attemptNo;
    },
    async notices() {
      const over = AbortSignal.timeout(waitMs);
      while (good < 2 && !over.aborted) await once(server, 'notice', { signal: over }).catch(() => undefined);
      return received;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function findNoticeFlaw(fields: Fields, requestId: string): string | undefined {
  if (fields['kind'] !== 'DEBIT') return 'a notice has a kind that is not listed';
  if (numberOf(fields['noticeNo']) === undefined) return 'a notice has no noticeNo';
  if (fields['noticeNo'] !== requestId) return 'a notice has another request id than its noticeNo';
  if (fields['status'] === 'PENDING') return 'a notice has no result';
  return findFlaw('debit', fields, fields)?.seen.replace('/debit answered', 'a notice says');
}

async function readBody(request: http.IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_MESSAGE_BYTES) return undefined;
  }
  return Buffer.concat(chunks);
}
