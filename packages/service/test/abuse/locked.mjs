import { setTimeout as delay } from 'node:timers/promises';
import { caller, orderOf, range } from './caller.mjs';

const POLL_MS = 50;
/** As many looks one after another with the same result: whoever will get stuck is stuck. */
const LOOKS = 5;
const PAIRS = 5;

/**
 * Sends an attack while the rows that it needs are locked, so that each of its requests takes as long as we like, and few of
 * them do what otherwise takes many. Meanwhile the bystander asks. Gives what each of the attack's requests came to, and what
 * was wrong with the bystander's answers.
 */
export async function sendWhileLocked({ baseUrl, bystander: channel, database }, { lock, values = [] }, send, signal) {
  const bystander = await caller(baseUrl, channel).logIn();
  let underWay = [];
  let answers = [];
  await database.transaction(async (tx) => {
    await tx.query(lock, values);
    underWay = send();
    await noneGetsFurther(database, signal);
    answers = await Promise.all(
      range(PAIRS).flatMap(() => [
        bystander.call('products/list', {}),
        bystander.call('orders/create', orderOf(bystander, 'TEST_SPU_001')),
      ]),
    );
  });
  bystander.close();
  const failed = answers.filter(({ code }) => code !== '0');
  return {
    replies: await Promise.all(underWay),
    findings: failed.length === 0 ? [] : [`while it waits, ${failed.length} of ${answers.length} of others failed`],
  };
}

async function noneGetsFurther(database, signal) {
  for (let same = 0, before = 0; same < LOOKS && !signal.aborted; ) {
    const [{ stuck }] = await database.query(
      `select count(*)::integer as stuck from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    same = stuck > 0 && stuck === before ? same + 1 : 0;
    before = stuck;
    await delay(POLL_MS);
  }
}
