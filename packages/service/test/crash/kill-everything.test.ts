import { randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { openDatabaseFromSettings } from '../../src/platform/installation/open-database.js';
import { readSettings } from '../../src/platform/settings.js';
import { type ChannelCredentials, channelClient, isToBeSentAgain, type Reply } from '../support/channel-client.js';
import { preparedDataDir } from '../support/data-dir.js';
import { killEverything, LEDGER_NODE, ledgerPort, type Running, start } from '../support/processes.js';
import { soakSize } from '../support/soak.js';

const ROUNDS = soakSize('KILL_ROUNDS', 2, 5);
const ACKNOWLEDGED_PER_ROUND = soakSize('KILL_ACKNOWLEDGED', 50, 120);
const CONNECTIONS = 12;

let dataDir: string;
let env: Record<string, string>;
let channel: ChannelCredentials;
let last: Running | undefined;

beforeAll(async () => {
  dataDir = await preparedDataDir();
  env = { DATA_DIR: dataDir, MASTER_KEY: randomBytes(32).toString('base64'), PORT: '0', LOG_LEVEL: 'silent' };
  const opened = await openDatabaseFromSettings(readSettings(env), { role: 'tool', log: () => undefined });
  channel = await createChannel(
    { ...opened, environment: 'sandbox', actor: 'test' },
    { name: 'Crash', ratePerSecond: 100_000 },
  );
  await opened.close();
});

afterAll(async () => {
  last?.child.kill('SIGTERM');
  await last?.exited;
  await rm(dataDir, { recursive: true, force: true });
});

interface Sent {
  readonly ref: string;
  readonly key: string;
  reply?: Reply;
}

it(`kill -9 of the whole process tree under load, ${ROUNDS} times: every acknowledged answer is replayed, nothing is stuck`, async () => {
  const everything: Sent[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const node = start(LEDGER_NODE, env);
    const baseUrl = `http://127.0.0.1:${await ledgerPort(node)}`;
    everything.push(...(await loadUntilKilled(node, baseUrl)));
  }

  last = start(LEDGER_NODE, env);
  const client = channelClient(`http://127.0.0.1:${await ledgerPort(last)}`, channel);
  const acknowledged = everything.filter((sent) => sent.reply !== undefined);
  const unanswered = everything.filter((sent) => sent.reply === undefined);
  expect(acknowledged.length).toBeGreaterThanOrEqual(ROUNDS * ACKNOWLEDGED_PER_ROUND);
  expect(unanswered.length).toBeGreaterThan(0);

  /**
   * Sends a request. Resends it, as a channel would, while the answer asks for a retry: a slow machine refuses requests
   * that it cannot begin in time.
   */
  const send = async ({ ref, key }: Sent): Promise<Reply> => {
    for (;;) {
      const reply = await client.call('test/add', { ref }, { idempotencyKey: key });
      if (!isToBeSentAgain(reply)) return reply;
    }
  };
  for (const sent of acknowledged) {
    const again = await send(sent);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.data).toEqual(sent.reply?.data);
  }
  // A resend finishes an interrupted request. Every further resend gets the same answer.
  const serials = new Set(acknowledged.map((sent) => sent.reply?.data.serial));
  for (const sent of unanswered) {
    const first = await send(sent);
    expect(first.code).toBe('0');
    serials.add(first.data.serial);
    expect((await send(sent)).data).toEqual(first.data);
  }
  expect(serials.size).toBe(everything.length);
}, 900_000);

/** Keeps the node busy on many connections, and kills it in the middle of its work. */
async function loadUntilKilled(node: Running, baseUrl: string): Promise<Sent[]> {
  const client = channelClient(baseUrl, channel);
  const sent: Sent[] = [];
  let acknowledged = 0;
  let killed = false;
  await client.call('test/add', { ref: 'warm-up' });
  // Kills the node in a later turn of the event loop. By then, callers that were answered together have sent their next
  // requests, and the kill interrupts these.
  const pullThePlug = () => {
    killed = true;
    killEverything(node, dataDir);
  };
  const worker = async () => {
    while (!killed) {
      const one: Sent = { ref: randomUUID(), key: randomUUID() };
      sent.push(one);
      try {
        const reply = await client.call('test/add', { ref: one.ref }, { idempotencyKey: one.key });
        // A dying node may answer that it is unavailable.
        if (isToBeSentAgain(reply)) continue;
        expect(reply.code).toBe('0');
        one.reply = reply;
      } catch (error) {
        if (!killed) throw error;
        return;
      }
      acknowledged += 1;
      if (acknowledged === ACKNOWLEDGED_PER_ROUND) setImmediate(pullThePlug);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  await node.exited;
  return sent;
}
