import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type ReferenceProgramOptions, startSupplier } from '@perennial/reference-peers';
import { onTestFinished } from 'vitest';
import type { Operator } from '../../src/operator/operator.js';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import type { Clock } from '../../src/platform/clock.js';
import { type Running, SUPPLIER, start, until } from '../support/processes.js';

export const KEY = Buffer.alloc(32, 9);

export interface HandedOut {
  readonly claimNo: string;
  readonly benefitCode: string;
  readonly faceValueCent: number;
  readonly code: string;
  readonly replaces?: string;
  readonly arrivals: number;
}

/** Returns access to a supplier's own records and to its control interface. */
export function supplierTo(url: string, dataDir: string) {
  const ledger = async () => (await fetch(`${url}/ledger`)).json() as Promise<Record<string, never>>;
  const control = (body: object) => fetch(`${url}/control`, { method: 'POST', body: JSON.stringify(body) });
  return {
    url,
    dataDir,
    handedOut: async (): Promise<readonly HandedOut[]> => (await ledger())['handedOut'] ?? [],
    refused: async (): Promise<readonly { readonly claimNo: string }[]> => (await ledger())['refused'] ?? [],
    control,
    async fault(fault: string, more = {}) {
      const response = await control({ action: 'set', fault, ...more });
      if (!response.ok) throw new Error(await response.text());
    },
  };
}

export type TestSupplier = ReturnType<typeof supplierTo>;

export async function supplierFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-supplier-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the reference supplier in this process, on a free port. It ends with the test. */
export async function localSupplier(
  clock: Clock,
  more: Partial<ReferenceProgramOptions> = {},
): Promise<TestSupplier & { stop(): Promise<void> }> {
  const folder = more.dataDir ?? (await supplierFolder());
  const { url, stop } = await startSupplier({ port: 0, key: KEY, clock, control: true, ...more, dataDir: folder });
  let stopped: Promise<void> | undefined;
  const once = () => {
    stopped ??= stop();
    return stopped;
  };
  onTestFinished(once);
  return { ...supplierTo(url, folder), stop: once };
}

/** Starts the reference supplier as a process that can be killed. */
export async function spawnSupplier(options: object, dataDir: string): Promise<TestSupplier & { running: Running }> {
  const given = JSON.stringify({ port: 0, key: KEY.toString('base64'), control: true, ...options, dataDir });
  const running = start(SUPPLIER, {}, [given]);
  onTestFinished(() => void running.child.kill('SIGKILL'));
  const url = await until('a supplier that serves', () => {
    if (running.child.exitCode !== null) throw new Error(`the supplier ended: ${running.stderr()}`);
    const line = running.stdout().match(/^\{"ready".*$/m)?.[0];
    return line === undefined ? undefined : (JSON.parse(line).url as string);
  });
  return { ...supplierTo(url, dataDir), running };
}

/** Lets a supplier fulfil the claims of this benefit from now on. */
export async function supplied(operator: Operator, benefitCode: string, supplierUrl: string): Promise<void> {
  await setFulfilment(operator, { benefitCode, kind: 'supplier', supplierUrl, supplierKey: KEY });
}
