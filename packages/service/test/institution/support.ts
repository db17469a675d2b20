import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import {
  type InstitutionOptions,
  type LedgerView,
  type ReferenceProgram,
  startInstitution,
} from '@perennial/reference-peers';
import { onTestFinished } from 'vitest';
import {
  type BridgeGateway,
  type BridgeOptions,
  createBridgeGateway,
} from '../../src/gateways/bridge/bridge-gateway.js';
import type { DebitRequest } from '../../src/gateways/gateway.js';
import { systemClock } from '../../src/platform/clock.js';
import { listen } from '../support/listen.js';
import { INSTITUTION, type Running, start, until } from '../support/processes.js';

export type { LedgerView };

export const KEY = Buffer.alloc(32, 7);
export const CARD = {
  bankCardNo: '6222021234567890',
  certificateNo: '110101199001011237',
  certType: 'ID_CARD',
  realName: 'Han Meimei',
  bankMobile: '13812345678',
};
/** The channel on whose behalf the service asks. */
export const BEHALF = { appId: 'test_demo' };

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-institution-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Pending debits settle immediately and notices are not delayed, unless a test changes the delays. */
const QUICK = { settleMs: 0, lateNoticeMs: 0, noticeRetryMs: 1, longestNoticeRetryMs: 5 };

export interface Attached {
  readonly institution: ReferenceProgram;
  readonly gateway: BridgeGateway;
  readonly dataDir: string;
}

/** Starts a real institution on a real port, and the service's gateway to it. Both end with the test. */
export async function attached(
  options: Partial<InstitutionOptions> = {},
  gatewayOptions: Partial<BridgeOptions> = {},
): Promise<Attached> {
  const dataDir = options.dataDir ?? (await temporaryFolder());
  const institution = await startInstitution({
    port: 0,
    key: KEY,
    clock: systemClock,
    control: true,
    ...options,
    delays: { ...QUICK, ...options.delays },
    dataDir,
  });
  onTestFinished(() => institution.stop());
  return { institution, gateway: gatewayTo(institution.url, gatewayOptions), dataDir };
}

export function gatewayTo(url: string, options: Partial<BridgeOptions> = {}): BridgeGateway {
  const gateway = createBridgeGateway({ url, key: KEY, clock: systemClock, ...options });
  onTestFinished(() => gateway.close());
  return gateway;
}

/** Starts an institution in a separate process that can be killed. */
export async function spawnInstitution(options: object): Promise<{ readonly running: Running; readonly url: string }> {
  const given = JSON.stringify({ port: 0, key: KEY.toString('base64'), control: true, ...options });
  const running = start(INSTITUTION, {}, [given]);
  onTestFinished(() => {
    running.child.kill('SIGKILL');
  });
  const url = await until('an institution that serves', () => {
    if (running.child.exitCode !== null) throw new Error(`the institution ended: ${running.stderr()}`);
    const line = running.stdout().match(/^\{"ready".*$/m)?.[0];
    return line === undefined ? undefined : (JSON.parse(line).url as string);
  });
  return { running, url };
}

/** Returns a debit request on a shared agreement whose number ends in `tail`. */
export function debitOf(attemptNo: string, tail = '8888', more: Partial<DebitRequest> = {}): DebitRequest {
  return {
    ...BEHALF,
    attemptNo,
    institutionNo: `SHARED-${tail}`,
    amountCent: 1990,
    orderNo: '1001',
    cycleNo: 1,
    externalOrderNo: 'order-1',
    startedAt: 1_700_000_000_000,
    ...more,
  };
}

export async function ledgerOf({ url }: { readonly url: string }): Promise<LedgerView> {
  const response = await fetch(`${url}/ledger`);
  return (await response.json()) as LedgerView;
}

export async function control({ url }: { readonly url: string }, body: object): Promise<Response> {
  return fetch(`${url}/control`, { method: 'POST', body: JSON.stringify(body) });
}

export interface ReceivedNotice {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** Starts a fake of the service's notice endpoint. It answers with the given statuses in turn, then with 200. */
export async function noticeEndpoint(statuses: readonly number[] = []) {
  const received: ReceivedNotice[] = [];
  const left = [...statuses];
  const server = http.createServer(async (request, response) => {
    const headers = request.headers as Record<string, string | undefined>;
    received.push({ path: request.url ?? '', headers, body: await buffer(request) });
    response.writeHead(left.shift() ?? 200).end();
    server.emit('notice');
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}/gateway/v1/notices/REFBANK`,
    received,
    /** Resolves once `wanted` notices have arrived. */
    async count(wanted: number): Promise<readonly ReceivedNotice[]> {
      while (received.length < wanted) await once(server, 'notice');
      return received;
    },
  };
}

/** Verifies a notice as the service would. */
export function understood(gateway: BridgeGateway, { path: at, headers, body }: ReceivedNotice) {
  return gateway.verifyNotice({ path: at, headers, body, now: systemClock.now() });
}
