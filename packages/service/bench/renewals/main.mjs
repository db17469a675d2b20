import { machineFacts } from '../facts.mjs';
import { openStage } from '../stage.mjs';
import { collected, deducted, takeOver } from './rows.mjs';

export { HELP, readOptions } from './options.mjs';
export { ratiosOf, report } from './table.mjs';

const PEERS = ['graphile-worker', 'pg-boss'];

/** Measures renewals by the engine and by job queues, one after another on one server. */
export async function bench({ orders, idle, deducted: due, jobs, rows, postgres }, { running, keep }) {
  const facts = await machineFacts();
  let number = 0;
  const kept = keep(async () => {
    const stage = await openStage(running, postgres);
    facts.postgres = stage.server.version;
    return { ...stage, next: () => ++number };
  });
  const measure = (row, { label, ...options }) => {
    const about = { row: label, mode: row === collected ? 'B' : 'A', peer: options.peer };
    return kept.measure(about, (stage) => row(stage, { label, ...options }));
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
  await kept.close();
  return { facts, results: kept.results };
}
