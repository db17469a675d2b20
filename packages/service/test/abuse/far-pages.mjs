import { once } from 'node:events';
import http from 'node:http';
import { listEvents } from '../../dist/webhooks/list-sql.js';
import { range, tally } from './caller.mjs';
import { makeEvents } from './events.mjs';
import { sendWhileLocked } from './locked.mjs';
import { rowsRead } from './rows-read.mjs';
import { runAlone } from './run.mjs';

const SIZE = 100;

/** What tells whether an event was delivered. No other channel here has anything delivered. */
const ATTEMPTS = { lock: 'lock table delivery_attempts in access exclusive mode' };

export const attack = {
  name: 'far-pages',
  about: 'events/list of the delivered events of a channel, a page near the end, all at once',
  numbers: {
    requests: { usual: 40, short: 20, most: 1_000, means: 'pages asked for at once' },
    events: { usual: 200_000, short: 3_000, means: 'events that were delivered' },
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
    const rows = await rowsOfPage(stage.database, attacker.channel.appId, (page - 1) * SIZE);
    return {
      ended: tally(replies.map(({ code }) => code)),
      figures: { page, 'rows read for it': rows.byNumber, 'rows read for it by cursor': rows.byCursor },
      findings: [
        ...findings,
        ...(wrong === 0 ? [] : [`${wrong} pages did not hold what they should`]),
        ...(rows.byNumber <= ROWS_SKIPPED * page * SIZE + ROWS_SHOWN ? [] : [`the page read ${rows.byNumber} rows`]),
        ...(rows.byCursor <= ROWS_SHOWN ? [] : [`the page by cursor read ${rows.byCursor} rows`]),
      ],
    };
  },
};

/** Of an event before the page, at most, and of the page itself: all tables together. */
const ROWS_SKIPPED = 3;
const ROWS_SHOWN = 15 * SIZE;

/** What one of these pages takes of the database, by its number and by cursor. */
async function rowsOfPage(database, appId, offset) {
  const [{ channelId }] = await database.query('select channel_id as "channelId" from channels where app_id = $1', [
    appId,
  ]);
  let first;
  const read = (place) => (tx) => listEvents(tx, channelId, { status: 'DELIVERED' }, SIZE + 1, place);
  const byNumber = await rowsRead(database, async (tx) => {
    [first] = await read({ after: undefined, offset })(tx);
  });
  const byCursor = await rowsRead(database, read({ after: [first.recordedMicros, first.eventNo], offset: 0 }));
  return { byNumber, byCursor };
}

const isDelivered = ({ deliveryStatus }) => deliveryStatus === 'DELIVERED';

await runAlone(import.meta.url, attack);
