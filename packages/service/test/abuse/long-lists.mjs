import { answerStart } from './answer-start.mjs';
import { range, tally } from './caller.mjs';
import { LONG_ORDERS, longOrders } from './long-orders.mjs';
import { runAlone } from './run.mjs';

export const attack = {
  name: 'long-lists',
  about: 'orders/list of a user with long orders, all at once; each caller hangs up at the first bytes',
  numbers: {
    requests: { usual: 20, short: 16, most: 500, means: 'lists asked for at once' },
    orders: LONG_ORDERS,
    seconds: { usual: 60, short: 40 },
  },
  mayEndAs: ['0', '429001'],
  prepare: longOrders,

  async run({ options, signal, prepared: { attacker, list } }) {
    const ended = await Promise.all(
      range(options.requests).map(async () => hangUpEarly(await attacker.open(list()), signal)),
    );
    return { ended: tally(ended) };
  },
};

/** Reads no more than the first bytes. */
function hangUpEarly(socket, signal) {
  return new Promise((resolve) => {
    const end = (outcome) => {
      signal.removeEventListener('abort', cutShort);
      socket.destroy();
      resolve(outcome);
    };
    const cutShort = () => end('cut short');
    signal.addEventListener('abort', cutShort);
    if (signal.aborted) cutShort();
    socket.once('data', (bytes) => end(answerStart(bytes.toString('latin1'))));
    socket.once('close', () => end('no answer'));
    socket.resume();
  });
}

await runAlone(import.meta.url, attack);
