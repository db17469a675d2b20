import { beforeEach, describe, expect, it } from 'vitest';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { moveLaggingSequences } from '../../src/platform/db/sequences.js';
import { person, sendCode } from '../agreements/support.js';
import { stageOfFile } from '../orders/stage-of-file.js';
import { anotherChannel } from '../orders/support.js';
import { collectRequest, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { anotherNode } from '../support/second-node.js';

const { on } = stageOfFile();

const SEQUENCES = [
  'agreement_numbers',
  'audit_log_audit_id_seq',
  'channels_channel_id_seq',
  'event_numbers',
  'order_numbers',
];

/** Resets the sequences to numbers already used, as after a restore that left out the sequences. */
async function rewind(): Promise<void> {
  const { database } = on.service.fresh;
  for (const sequence of SEQUENCES) await database.query(`alter sequence ${sequence} restart`);
}

beforeEach(async () => {
  for (const request of [collectRequest, sharedRequest]) {
    expect((await on.channel.call('orders/create', request(on.channel))).code).toBe('0');
  }
});

const numbers = (column: string, table: string) =>
  on.service.fresh.database
    .query<{ number: string }>(`select ${column}::text as number from ${table} order by 1`)
    .then((rows) => rows.map(({ number }) => number));

describe('after a restore that left the sequences out', () => {
  it('a start moves each above the numbers in use, once', async () => {
    const { database } = on.service.fresh;
    await rewind();
    expect((await moveLaggingSequences(database)).toSorted()).toEqual(SEQUENCES);
    expect(await moveLaggingSequences(database)).toEqual([]);

    const before = new Set([...(await numbers('order_no', 'orders')), ...(await numbers('event_no', 'events'))]);
    const node = await anotherNode(on.service, { gateways: { of: async () => on.institution } });
    const { orderNo } = (await node.client(on.channel).call('orders/create', collectRequest(on.channel))).data;
    await node.close();
    expect(before).not.toContain(orderNo);
    const events = await numbers('event_no', 'events');
    expect(new Set(events).size).toBe(events.length);
    expect((await createChannel(on.service.operator, { name: 'One more' })).appId).toBeTruthy();
  });

  it('several nodes that start at once move them once, and never back', async () => {
    const { database } = on.service.fresh;
    await rewind();
    const files = () =>
      database.query(`select name, pg_relation_filenode(name::regclass) as file from unnest($1::text[]) name`, [
        SEQUENCES,
      ]);
    const before = await files();
    const moved = await Promise.all([1, 2, 3].map(() => moveLaggingSequences(database)));
    expect(moved.flat().toSorted()).toEqual(SEQUENCES);
    // Moving a sequence does not replace its file, so concurrent readers do not fail.
    expect(await files()).toEqual(before);
  });

  it.each([
    ['billed', collectRequest],
    ['debited', sharedRequest],
  ])('a running node stores orders that are %s under other numbers, without an error', async (_how, request) => {
    const node = await anotherNode(on.service, { gateways: { of: async () => on.institution } });
    const channel = node.client(on.channel);
    await rewind();
    const replies = await Promise.all(
      Array.from({ length: 40 }, () =>
        channel.call('orders/create', request(channel), { idempotencyKey: unique('key') }),
      ),
    );
    await node.close();
    expect(replies.map(({ code }) => code)).toEqual(replies.map(() => '0'));
    expect(new Set(replies.map(({ data }) => data.orderNo)).size).toBe(replies.length);
    expect(on.institution.debits.map(({ attemptNo }) => attemptNo)).toHaveLength(
      new Set(on.institution.debits.map(({ attemptNo }) => attemptNo)).size,
    );
  });

  it('503001 for any other taken number, then 0 for the resend', async () => {
    const channel = await anotherChannel(on.service);
    const user = unique('user');
    const { orderNo } = (await channel.call('orders/create', sharedRequest(channel, { channelUserId: user }))).data;
    await rewind();
    const replace = () =>
      channel.call('agreements/replace', { orderNo, newSharedAgreement: sharedAgreement(channel, user) });
    expect((await replace()).code).toBe('503001');
    expect((await replace()).code).toBe('0');

    await rewind();
    const binding = person();
    expect((await sendCode(channel, binding)).code).toBe('503001');
    expect((await sendCode(channel, binding)).code).toBe('0');
  });
});
