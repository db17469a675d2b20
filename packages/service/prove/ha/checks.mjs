import { setTimeout as delay } from 'node:timers/promises';
import { booksOf } from './books.mjs';
import { call, isFinal } from './call.mjs';

const SETTLE_SECONDS = 150;
/** An attempt that is older than this is not on its way any more: what became of it may be asked now instead of later. */
const ASK_NOW = `update debit_attempts set ask_at = now()
  where status = 'STARTED' and ask_at > now() and started_at < now() - interval '30 s'`;
const ASK_EVERY = 5;
const RESENDERS = 12;
const RESENDS = 20;

const lost = (text) => ({ kind: 'lost', text });

const withDatabase = async ({ openDatabase }, work) => {
  const { database, close } = await openDatabase();
  try {
    return await work(database);
  } finally {
    await close();
  }
};

/**
 * Waits until the engine has nothing left to do. A debit of an order that has ended may stay open for some minutes, since the
 * institution might still get it.
 */
const LEFT = `select (select count(*) from orders where next_due_at <= now()) as due,
  (select count(*) from debit_attempts a join orders o using (order_no)
   where a.status = 'STARTED' and o.status <> 'UNSUBSCRIBED') as open,
  (select count(*) from due_events) as unsent`;

export function settled(stand) {
  return withDatabase(stand, async (database) => {
    let left;
    for (let second = 0; second < SETTLE_SECONDS; second += 1) {
      stand.interrupted.throwIfAborted();
      if (second % ASK_EVERY === 0) await database.query(ASK_NOW);
      [left] = await database.query(LEFT);
      if (Object.values(left).every((count) => count === 0)) return [];
      await delay(1_000);
    }
    const { due, open, unsent } = left;
    return [
      lost(`${SETTLE_SECONDS} s later ${due} orders were due, ${open} debits open and ${unsent} events not sent`),
    ];
  });
}

/** Every acknowledged write once more, with its key, at another node than the one that answered: the answer must be the same. */
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
      else if (!again.wasReplayed) findings.push(lost(`${kind} ${about} was forgotten, and done anew`));
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

/** The service's books against what callers, the institution and the receiver know. */
export async function booksAgree(stand, writes) {
  const ledger = await stand.ledger();
  return withDatabase(stand, (database) => booksOf(database, { writes, ledger, received: stand.receiver.events }));
}
