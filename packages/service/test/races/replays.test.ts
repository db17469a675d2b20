import { beforeAll, expect, it } from 'vitest';
import { nodeOfFile, stageOfFile } from '../orders/stage-of-file.js';
import { anotherChannel } from '../orders/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest, unique } from '../support/demo.js';
import { createOrderWithEvents, listDueEvents, recordOutcome } from '../webhooks/outcomes.js';

/** Uses two nodes. One channel calls events/replay on both; a second channel must not be affected. */
const { on } = stageOfFile();
const node = nodeOfFile(on);
let clients: ChannelClient[];
let bystander: ChannelClient;
beforeAll(async () => {
  clients = [on.channel, node.client(on.channel)];
  bystander = await anotherChannel(on.service);
});

const database = () => on.service.fresh.database;

it('sixty concurrent replays of everything on two nodes: each event once, no error, and other channels are not affected', async () => {
  const events: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const { payment, order } = await createOrderWithEvents(database(), on.channel);
    events.push(payment, order);
  }
  await recordOutcome(database(), events, 'GIVE_UP');
  let isOver = false;
  const replays = Promise.all(
    Array.from({ length: 60 }, (_, n) => {
      const body = n % 3 === 0 ? { from: '2026-01-01 00:00:00' } : { eventIds: events };
      return (clients[n % 2] as ChannelClient).call('events/replay', body, { idempotencyKey: unique('key') });
    }),
  ).finally(() => {
    isOver = true;
  });
  const answers: string[] = [];
  while (!isOver) {
    const { code, data } = await bystander.call('orders/create', collectRequest(bystander));
    answers.push(code, (await bystander.call('orders/unsubscribe', { orderNo: data.orderNo })).code);
  }
  expect(new Set((await replays).map(({ code }) => code))).toEqual(new Set(['0']));
  expect(new Set(answers)).toEqual(new Set(['0']));
  const ids = (await listDueEvents(database())).map(({ id }) => id);
  for (const event of events) expect(ids.filter((id) => id === event)).toEqual([event]);
});
