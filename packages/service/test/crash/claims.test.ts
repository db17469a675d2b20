import { randomBytes } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import type { Operator } from '../../src/operator/operator.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { unsealClaimCode } from '../../src/subscriptions/domain/benefits/claim-code.js';
import { spawnSupplier, supplied, supplierFolder, type TestSupplier } from '../fulfilment/suppliers.js';
import { ofFile } from '../orders/stage-of-file.js';
import { claimsOf, formOf, get, post } from '../redeem/support.js';
import { type ChannelClient, type ChannelCredentials, channelClient } from '../support/channel-client.js';
import { freshDatabase } from '../support/database.js';
import { collectRequest } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { type KeptAlive, keptAlive } from '../support/kept-alive.js';
import { CLAIMS_NODE, until } from '../support/processes.js';
import { soakSize } from '../support/soak.js';

const CLAIMS = soakSize('CLAIMS', 50, 100);
const CONNECTIONS = 12;
/**
 * Of DOOMED_EVERY claims, two make the node kill itself. In addition the test kills the node after each KILL_EVERY
 * answered buttons.
 */
const DOOMED_EVERY = 50;
const KILL_EVERY = Math.min(60, CLAIMS * 0.6);
/** The timeout of a wait. It is long, because a node needs a while to restart. */
const PATIENCE_MS = 90_000;
const FAULTS = [
  'answer-lost',
  'error-before',
  'error-after',
  'refuse',
  'delay',
  'wrong-claim',
  'forged-answer',
  'garbage-answer',
];

const masterKey = randomBytes(32);
const fresh = ofFile(freshDatabase);
let operator: Operator;
let channel: ChannelCredentials;
let port: number;
beforeAll(async () => {
  operator = { database: fresh.database, vault: openVault([masterKey]), environment: 'sandbox', actor: 'test' };
  channel = await sellingChannel();
  port = await freePort();
  await fresh.database.query('create table test_kills (claim_no text, point text)');
});

/** A button of a redemption page and the form that it posts. The test repeats the post if there is no answer. */
interface Button {
  readonly claimNo: string;
  readonly form: Readonly<Record<string, string>>;
}

it(
  `${CLAIMS} claims at a supplier while the service is killed and answers are lost: each is fulfilled once`,
  async () => {
    const supplierPort = await freePort();
    const folder = await supplierFolder();
    const supplier = await spawnSupplier({ port: supplierPort }, folder);
    for (const benefitCode of ['FILM', 'MUSIC']) await supplied(operator, benefitCode, supplier.url);
    const node = keptAlive(
      {
        DATABASE_URL: fresh.url,
        MASTER_KEY: masterKey.toString('base64'),
        PORT: String(port),
        LOG_LEVEL: 'silent',
        REDEEM_OPENS_PER_MINUTE: '1000000',
      },
      CLAIMS_NODE,
    );
    await node.serves();
    const buttons = await pages(channelClient(`http://127.0.0.1:${port}`, channel));
    expect(buttons).toHaveLength(CLAIMS);
    await doom(buttons);
    await setFaults(supplier, buttons);
    const begun = performance.now();
    await pressAll(buttons, node);

    // Kills the supplier too, while claims may still be pending.
    supplier.running.child.kill('SIGKILL');
    await supplier.running.exited;
    const again = await spawnSupplier({ port: supplierPort }, folder);
    await until(
      'every claim fulfilled',
      async () => {
        await fresh.database.query('update claims set ask_at = now() where ask_at > now()');
        return (await fresh.database.query(`select from claims where status = 'PENDING'`)).length === 0;
      },
      PATIENCE_MS,
    );
    expect(node.kills()).toBeGreaterThanOrEqual(Math.floor(CLAIMS / DOOMED_EVERY) * 2);
    const seconds = (performance.now() - begun) / 1000;
    process.stdout.write(`  ${CLAIMS} claims in ${seconds.toFixed(1)} s, ${node.kills()} kills\n`);
    await node.stop();
    await agree(buttons, again);
  },
  600_000 + CLAIMS * 1_000,
);

/** Compares the supplier's ledger with the service's records. */
async function agree(buttons: readonly Button[], supplier: TestSupplier): Promise<void> {
  const appChannel = await createChannelRegistry(fresh.database, operator.vault).get(channel.appId);
  if (!appChannel) throw new Error('the channel is there');
  const rows = await fresh.database.query<{ claimNo: string; code: string; status: string }>(
    `select b.claim_no as "claimNo", c.code, b.status from claims c join benefits b using (order_no, cycle_no, position)`,
  );
  const here = new Map(rows.map(({ claimNo, code }) => [claimNo, unsealClaimCode(appChannel, claimNo, code)]));
  const handedOut = await supplier.handedOut();
  const there = new Map(handedOut.map(({ claimNo, code }) => [claimNo, code]));
  expect(handedOut).toHaveLength(CLAIMS);
  expect(there.size).toBe(CLAIMS);
  expect(new Set(there.values()).size).toBe(CLAIMS);
  expect([...here].toSorted()).toEqual([...there].toSorted());
  expect([...here.keys()].toSorted()).toEqual(buttons.map(({ claimNo }) => claimNo).toSorted());
  expect(rows.every(({ status }) => status === 'CLAIMED')).toBe(true);
  // The claims that the supplier refused for a while raise alerts. There are no other alerts.
  const alerts = await fresh.database.query<{ kind: string }>('select distinct kind from alerts');
  expect(alerts).toEqual([{ kind: 'claim-refused' }]);
}

/** Presses every button once, except every fifth, which is pressed twice concurrently. */
async function pressAll(buttons: readonly Button[], node: KeptAlive): Promise<void> {
  const queue = [...buttons.entries()];
  let answered = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const [n, button] = next;
        await Promise.all([press(button, node), ...(n % 5 === 0 ? [press(button, node)] : [])]);
        answered += 1;
        if (answered % KILL_EVERY === 0) node.kill();
      }
    }),
  );
}

/** Posts the form repeatedly until the service accepts it, as a user does. */
async function press({ claimNo, form }: Button, node: KeptAlive): Promise<void> {
  await until(
    `an answer about ${claimNo}`,
    async () => {
      // `kills()` throws if the node ended without being killed.
      node.kills();
      const reply = await post(`http://127.0.0.1:${port}`, '/redeem/claim', form).catch(lostConnection);
      if (reply === undefined || reply.status >= 500 || reply.status === 429) return false;
      expect(reply.status, reply.text).toBe(303);
      return true;
    },
    PATIENCE_MS,
  );
}

function lostConnection(error: unknown): undefined {
  if (!(error instanceof Error) || !/ECONN|socket hang up|EPIPE/.test(error.message)) throw error;
}

/** Creates orders, and returns the two buttons of each. */
async function pages(client: ChannelClient): Promise<Button[]> {
  const buttons: Button[] = [];
  for (let n = 0; n < CLAIMS / 2; n += 1) {
    const data = await until('an order', async () => {
      const reply = await client.call('orders/create', collectRequest(client, { productCode: 'BOTH' }));
      // An overloaded node refuses requests. No other refusal is expected.
      if (reply.code === '503001') return undefined;
      expect(reply.code, reply.text).toBe('0');
      return reply.data;
    });
    const page = await get(`http://127.0.0.1:${port}`, data.redeemUrl.replace('https://pay.example', ''));
    for (const [position, name] of ['Film', 'Music'].entries()) {
      const claim = claimsOf(page).get(`${name} 1`);
      if (claim === undefined) throw new Error(`the page has no button for ${name}: ${page.text}`);
      buttons.push({ claimNo: `C${data.orderNo}00010${position + 1}`, form: { ...formOf(page), claim } });
    }
  }
  return buttons;
}

/**
 * Chooses claims that kill the node. Some kill it between their commit and the call of the supplier, some after the
 * supplier has answered and before the answer is stored.
 */
async function doom(buttons: readonly Button[]): Promise<void> {
  for (const [n, { claimNo }] of buttons.entries()) {
    const point = { 7: 'before-call', 27: 'after-call' }[n % DOOMED_EVERY];
    if (point !== undefined) await fresh.database.query('insert into test_kills values ($1, $2)', [claimNo, point]);
  }
}

async function setFaults(supplier: TestSupplier, buttons: readonly Button[]): Promise<void> {
  await supplier.control({ action: 'delay', answerMs: 300 });
  for (const [n, { claimNo }] of buttons.entries()) {
    const fault = n % 2 === 0 ? FAULTS[(n / 2) % FAULTS.length] : undefined;
    if (fault !== undefined) await supplier.fault(fault, { claimNo, times: 1 });
  }
}

async function sellingChannel(): Promise<ChannelCredentials> {
  await createProduct(operator, {
    productCode: 'BOTH',
    productName: 'Film and music',
    settlementModes: ['CHANNEL_COLLECT'],
    periodType: 'MONTH',
    period: 1,
    totalCycles: 12,
    amountCent: 1990,
    benefits: [
      { benefitCode: 'FILM', name: 'Film', faceValueCent: 1500 },
      { benefitCode: 'MUSIC', name: 'Music', faceValueCent: 490 },
    ],
  });
  const created = await createChannel(operator, { name: 'Crash', ratePerSecond: 100_000 });
  await authorizeProduct(operator, { appId: created.appId, productCode: 'BOTH' });
  return created;
}
