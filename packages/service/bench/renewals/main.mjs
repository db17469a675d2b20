import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { machineFacts } from '../facts.mjs';
import { collected, deducted, takeOver } from './rows.mjs';
import { openServer } from './server.mjs';

export { HELP, readOptions } from './options.mjs';
export { report } from './table.mjs';

const PEERS = ['graphile-worker', 'pg-boss'];

/** Renewals by the engine and by job queues, all on one server, one after another. */
export async function bench({ orders, idle, deducted: due, jobs, rows, postgres }, running, say) {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-bench-'));
  let server;
  try {
    const facts = await machineFacts(dataDir);
    server = await openServer(dataDir, postgres);
    let number = 0;
    const parts = { server, running, next: () => ++number };
    const results = [];
    const measure = async (row, options) => {
      say(`  ${options.label}\n`);
      results.push({ ...(await row(parts, options)), mode: row === collected ? 'B' : 'A', peer: options.peer });
    };
    const peers = rows.has('peers') ? PEERS : [];
    for (const peer of peers) await measure(collected, { label: `B, ${peer}, a job per order`, due: jobs, peer });
    if (rows.has('collected')) await measure(collected, { label: 'B, the engine', due: orders });
    if (rows.has('idle')) {
      await measure(collected, {
        label: `B, the engine, ${idle} times as many idle`,
        due: orders,
        idle: orders * idle,
      });
    }
    if (rows.has('benefits')) {
      await measure(collected, { label: 'B, the engine, two benefits', due: orders, productCode: 'MONTHLY_2' });
    }
    const deductedPeers = rows.has('deducted') ? peers : [];
    for (const peer of deductedPeers) {
      await measure(deducted, { label: `A, ${peer}, a job per order`, due: Math.min(jobs, due), peer });
    }
    if (rows.has('deducted')) await measure(deducted, { label: 'A, the engine', due });
    if (rows.has('take-over')) await measure(takeOver, { label: 'A, one of two nodes killed', due });
    return { facts: { ...facts, postgres: server.version }, results };
  } finally {
    await running.stop();
    await server?.close().catch(() => undefined);
    await rm(dataDir, { recursive: true, force: true });
  }
}
