import { setTimeout as delay } from 'node:timers/promises';
import { lost } from './books/findings.mjs';
import { booksOf } from './books.mjs';
import { call, isFinal } from './call.mjs';

const SETTLE_SECONDS = 150;
/** A debit or refund that began this many seconds ago is not in flight: its result can be queried at once. */
const OLD_SECONDS = 30;
const ASK_EVERY = 5;
const RESENDERS = 12;
const RESENDS = 20;

/** Statements that let the engine query the results of debits and refunds now, and cancel agreements now. */
const ASK_NOW = [
  ...['debit_attempts', 'refunds'].map(
    (table) => `update ${table} set ask_at = now()
      where status = 'STARTED' and ask_at > now() and started_at < now() - $1 * interval '1 second'`,
  ),
  `update agreements set cancel_at = now() where cancel_at > now() + $1 * interval '1 second'`,
];

const LEFT = `select (select count(*) from orders where next_due_at <= now()) as "orders due",
  (select count(*) from refunds where status = 'STARTED') as "refunds open",
  (select count(*) from agreements where cancel_at is not null) as "agreements to cancel",
  (select count(*) from claims where status = 'PENDING') as "claims without a code",
  (select count(*) from due_events) as "events not sent"`;

const OPEN_DEBITS = `select a.order_no::text || lpad(a.cycle_no::text, 4, '0') || lpad(a.try_no::text, 2, '0') as "attemptNo",
    o.status = 'UNSUBSCRIBED' as "isEnded"
  from debit_attempts a join orders o using (order_no) where a.status = 'STARTED'`;

/** Waits until the engine has no work left and the institution has no notices left to send. */
export function settled(stand) {
  return withDatabase(stand, async (database) => {
    let left;
    for (let second = 0; second < SETTLE_SECONDS; second += 1) {
      stand.interrupted.throwIfAborted();
      if (second % ASK_EVERY === 0) for (const text of ASK_NOW) await database.query(text, [OLD_SECONDS]);
      left = await leftOver(database, await stand.institution.ledger());
      if (left.length === 0) return [];
      await delay(1_000);
    }
    return [lost(`${SETTLE_SECONDS} s later there were ${left.join(', ')}`)];
  });
}

async function leftOver(database, { debits, owedNotices }) {
  const [counts] = await database.query(LEFT);
  const seen = new Set(debits.map(({ attemptNo }) => attemptNo));
  // Does not wait for a debit of an ended order if the institution has never seen the debit. Such a debit stays open
  // for some minutes, because its request could still arrive.
  const open = (await database.query(OPEN_DEBITS)).filter(({ attemptNo, isEnded }) => !isEnded || seen.has(attemptNo));
  const all = { ...counts, 'debits open': open.length, 'notices of the institution not accepted': owedNotices.length };
  return Object.entries(all)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`);
}

const withDatabase = async ({ openDatabase }, work) => {
  const { database, close } = await openDatabase();
  try {
    return await work(database);
  } finally {
    await close();
  }
};

/** Resends every acknowledged write with its idempotency key to another node. The response must be the same. */
export async function acknowledgedAgain({ nodes, channel, interrupted }, writes) {
  const findings = [];
  const left = writes.filter(({ answer }) => answer !== undefined);
  async function resend() {
    for (let write = left.pop(); write !== undefined; write = left.pop()) {
      interrupted.throwIfAborted();
      const again = await answerOf(write);
      const { kind, about, answer } = write;
      const isSame = again.code === answer.code && JSON.stringify(again.data) === JSON.stringify(answer.data);
      if (!isSame)
        findings.push(lost(`${kind} ${about} was answered ${answer.code}, and again with ${again.code} or other data`));
      else if (!again.wasReplayed) findings.push(lost(`${kind} ${about} was forgotten and executed again`));
    }
  }
  async function answerOf(write) {
    const other = nodes[(nodes.indexOf(write.node) + 1) % nodes.length];
    for (let turn = 1; ; turn += 1) {
      const answer = await call(other, channel, write);
      if (isFinal(answer) || turn === RESENDS) return answer;
      await delay(500);
    }
  }
  await Promise.all(Array.from({ length: RESENDERS }, resend));
  return findings;
}

/** Compares the service's records with those of the callers, the institution and the receiver. */
export async function booksAgree({ institution, receiver, channel, openDatabase }, writes) {
  const known = { writes, ledger: await institution.ledger(), received: receiver.events, aesKey: channel.aesKey };
  const forged = receiver.forged();
  const findings = await withDatabase({ openDatabase }, (database) => booksOf(database, known));
  return forged === 0 ? findings : [...findings, { kind: 'wrong', text: `${forged} pushes were not signed rightly` }];
}
