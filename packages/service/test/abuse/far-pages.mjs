import { once } from 'node:events';
import http from 'node:http';
import { range, tally } from './caller.mjs';
import { makeEvents } from './events.mjs';
import { sendWhileLocked } from './locked.mjs';
import { runAlone } from './run.mjs';

const SIZE = 100;

/** What tells whether an event was delivered. No other channel here has anything delivered. */
const ATTEMPTS = { lock: 'lock table delivery_attempts in access exclusive mode' };

export const attack = {
  name: 'far-pages',
  about: 'events/list of the delivered events of a channel, a page near the end, all at once',
  numbers: {
    requests: { usual: 40, short: 20, most: 1_000, means: 'pages asked for at once' },
    events: { usual: 200_000, short: 1_000, means: 'events that were delivered' },
  },
  mayEndAs: ['0', '400001', '429001'],

  /** A channel whose receiver says yes to everything. */
  async prepare({ stage, options, signal }) {
    const attacker = await stage.ownAttacker({ products: [] });
    const receiver = http.createServer((request, response) => {
      request
        .resume()
        .on('end', () => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"code":"0"}'));
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    try {
      const { appId } = attacker.channel;
      await stage.perennial('channel', 'set-callback', appId, `http://localhost:${receiver.address().port}/events`);
      await makeEvents(stage, attacker, options.events, signal);
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
    return { attacker };
  },

  async run({ stage, options, signal, prepared: { attacker } }) {
    const page = Math.max(1, Math.floor(options.events / SIZE) - 1);
    const body = { deliveryStatus: 'DELIVERED', page, size: SIZE };
    const send = () => range(options.requests).map(() => attacker.call('events/list', body, { signal }));
    const { replies, findings } = await sendWhileLocked(stage, ATTEMPTS, send, signal);
    const isPage = ({ data }) => data.events.length === SIZE && data.events.every(isDelivered);
    const wrong = replies.filter((reply) => reply.code === '0' && !isPage(reply)).length;
    return {
      ended: tally(replies.map(({ code }) => code)),
      figures: { page },
      findings: [...findings, ...(wrong === 0 ? [] : [`${wrong} pages did not hold what they should`])],
    };
  },
};

const isDelivered = ({ deliveryStatus }) => deliveryStatus === 'DELIVERED';

await runAlone(import.meta.url, attack);
