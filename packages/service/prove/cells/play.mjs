import { lost, wrong } from '../ha/books/findings.mjs';
import { acknowledgedAgain, booksAgree, settled } from '../ha/checks.mjs';
import { startLoad } from '../ha/load.mjs';
import { sleep, until } from '../ha/waiting.mjs';
import { countWritesAfterMark } from './late.mjs';

/** Seconds of undisturbed load before a fault and after the recovery. */
const SECONDS = { before: 8, after: 8 };

const LOAD_SECONDS = 120;

/** What callers do in each cell before a fault is over. Otherwise it would prove nothing about it. */
const KINDS = ['create B', 'create A', 'create A.1', 'unsubscribe', 'refund', 'claim'];

/** Plays one fault under load in both cells, and checks the result. */
export async function play(fault, stand, say) {
  const { cells, interrupted } = stand;
  await fault.before?.(stand);
  await stand.untilReady();
  say(`  ${fault.title}\n`);
  const lateWriters = stand.startLateWriters();
  const loads = await Promise.all(cells.map(startLoad));
  let records;
  let confirmed;
  try {
    await sleep(SECONDS.before, interrupted);
    await fault.play(stand);
    await stand.untilReady();
    await sleep(SECONDS.after, interrupted);
    const isBusy = async () => loads.every((load) => KINDS.every(load.hasDone));
    await until('callers have done everything', isBusy, { seconds: LOAD_SECONDS, interrupted });
  } finally {
    records = await Promise.all(loads.map((load) => load.stop()));
    confirmed = await lateWriters.moved.stop();
    await lateWriters.stays.stop();
  }
  // Both before the checks, because the cells share an institution.
  const unsettled = [];
  for (const cell of cells) unsettled.push(...(await settled(cell)));
  const checked = [];
  for (const [index, cell] of cells.entries()) checked.push(await check(cell, records[index]));
  const [stays, moved] = checked;
  const late = await lateFindings(cells[1], confirmed);
  const findings = [...unsettled, ...stays.findings, ...moved.findings, ...late];
  const fencedWrites = await countFencedWrites(stand);
  const sum = (of) => of(stays) + of(moved);
  return {
    title: fault.title,
    findings,
    acknowledged: sum((one) => one.acknowledged),
    found: sum((one) => one.found),
    renewals: sum((one) => one.renewals),
    events: sum((one) => one.events),
    kinds: [...stays.kinds, ...moved.kinds],
    seen: new Map([...stays.seen, ...moved.seen].map(([code]) => [code, sum(({ seen }) => seen.get(code) ?? 0)])),
    movedGapMs: moved.longestGapMs,
    otherGapMs: stays.longestGapMs,
    fencedWrites,
  };
}

async function check(cell, { writes, findings, seen, longestGapMs }) {
  const answered = writes.filter(({ answer }) => answer !== undefined);
  const kinds = answered.map(({ kind }) => kind);
  const found = [...findings, ...(await acknowledgedAgain(cell, writes))];
  const books = await booksAgree(cell, writes);
  const renewals = await countRenewals(cell);
  const idle = renewals === 0 ? [wrong(`cell ${cell.cell} had no renewal`)] : [];
  const all = [...found, ...books, ...idle];
  const missing = [...found, ...books.filter(({ book }) => book === 'acknowledged')].filter(
    ({ kind }) => kind === 'lost',
  );
  const isMissing = ({ kind, about }) => missing.some(({ text }) => text.startsWith(`${kind} ${about} was `));
  return {
    findings: all,
    acknowledged: answered.length,
    found: answered.filter((write) => !isMissing(write)).length,
    events: cell.receiver.events.size,
    ...{ kinds, renewals, seen, longestGapMs },
  };
}

async function countRenewals({ openDatabase }) {
  const { database, close } = await openDatabase();
  try {
    const [{ n }] = await database.query(
      `select count(*)::integer as n from payments where cycle_no > 1 and status in ('SUCCESS', 'BILLED')`,
    );
    return n;
  } finally {
    await close();
  }
}

/** Checks that the moved cell has every write that a program confirmed which knew only the old server. */
async function lateFindings({ openDatabase }, confirmed) {
  if (confirmed.length === 0) return [wrong('nobody wrote by the address of the old server')];
  const { database, close } = await openDatabase();
  try {
    const stored = new Set((await database.query('select n from prove_late')).map(({ n }) => n));
    return confirmed.filter((n) => !stored.has(n)).map((n) => lost(`late write ${n} was confirmed, and is not here`));
  } finally {
    await close();
  }
}

/** Counts what was written on the old server after the fence, and to copies on the new server after its opening. */
async function countFencedWrites({ old, new: promoted, databases: { moved, stays }, nodes }) {
  await Promise.all(nodes.flat().map((node) => node.end('SIGKILL')));
  return (
    (await countWritesAfterMark(old, { database: moved, marked: moved })) +
    (await countWritesAfterMark(promoted, { database: stays, marked: moved }))
  );
}
