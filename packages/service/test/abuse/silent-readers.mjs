import { setTimeout as delay } from 'node:timers/promises';
import { answerStart, isWhole } from './answer-start.mjs';
import { range, tally } from './caller.mjs';
import { LONG_ORDERS, longOrders } from './long-orders.mjs';
import { runAlone } from './run.mjs';

const POLL_MS = 50;
const READ_MS = 1_000;

export const attack = {
  name: 'silent-readers',
  about: 'orders/list of a user with long orders, all at once, by callers who do not read the answer',
  numbers: {
    requests: { usual: 40, short: 16, most: 500, means: 'lists asked for at once' },
    orders: LONG_ORDERS,
    hold: {
      usual: 40,
      short: 1,
      most: 300,
      means: 'seconds for which nobody reads, once all have been answered something',
    },
    seconds: { usual: 90, short: 40 },
  },
  mayEndAs: ['0', '0, not to its end', 'cut off', '429001'],
  prepare: longOrders,

  async run({ options, signal, prepared: { attacker, list } }) {
    const sockets = await Promise.all(range(options.requests).map(() => attacker.open(list())));
    while (!signal.aborted && sockets.some(isUnanswered)) await delay(POLL_MS);
    await delay(options.hold * 1000, undefined, { signal }).catch(() => undefined);
    return { ended: tally(await Promise.all(sockets.map(readOn))) };
  },
};

const isUnanswered = (socket) => socket.bytesRead === 0 && !socket.destroyed;

/** What had come so far, and what still comes for a moment once somebody reads. */
async function readOn(socket) {
  if (socket.destroyed) return 'cut off';
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  const closed = new Promise((resolve) => {
    socket.once('close', resolve);
  });
  socket.resume();
  await Promise.race([closed, delay(READ_MS)]);
  socket.destroy();
  const start = answerStart(text);
  return start !== '0' || isWhole(text) ? start : '0, not to its end';
}

await runAlone(import.meta.url, attack);
