import { readFileSync } from 'node:fs';
import path from 'node:path';
import { openEmbedded } from '@perennial/embedded-postgres';
import pg from 'pg';
import { createChannelRegistry } from '../../dist/catalog/channels/channel-registry.js';
import { createProduct } from '../../dist/operator/provisioning/products.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { readSettings } from '../../dist/platform/settings.js';
import { provisionChannel } from '../channel.mjs';
import { CAN_MEASURE, cpuOfDescendants, cpuOfEnded, cpuOfProcess } from '../cpu.mjs';
import { openOwnServer } from '../own-server.mjs';

/** What is renewed: a month's period, with one benefit or two. */
const PRODUCTS = [
  { productCode: 'MONTHLY', benefits: [{ benefitCode: 'VIP_PASS', name: 'VIP pass', faceValueCent: 1500 }] },
  {
    productCode: 'MONTHLY_2',
    benefits: [
      { benefitCode: 'VIP_PASS', name: 'VIP pass', faceValueCent: 1500 },
      { benefitCode: 'COUPON', name: 'Coupon', faceValueCent: 490 },
    ],
  },
];
const REST = {
  productName: 'Monthly membership',
  settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
  periodType: 'MONTH',
  period: 1,
  totalCycles: 36,
  amountCent: 1990,
};

/** Making millions of orders takes longer than the service lets any statement take. */
async function longWork(url) {
  const client = new pg.Client({ connectionString: url, options: '-c TimeZone=Asia/Shanghai' });
  // A server that is gone fails what is asked of it, not the whole bench.
  client.on('error', () => undefined);
  await client.connect();
  return { query: async (text, values) => (await client.query(text, values)).rows, end: () => client.end() };
}

/**
 * A server with a database for each row: one row's tables and their vacuum are not the next one's business. It is the
 * embedded one, or the one whose programs are in `bin`.
 */
export async function openServer(dataDir, bin) {
  const server = bin ? await openOwnServer(bin) : await openEmbeddedServer(dataDir);
  const admin = new pg.Client(server.url);
  admin.on('error', () => undefined);
  await admin.connect();
  const [pid] = readFileSync(path.join(server.data, 'postmaster.pid'), 'utf8').split('\n').map(Number);
  const { rows } = await admin.query(`select current_setting('server_version') as version`);
  return {
    version: rows[0].version,

    /** CPU time of the whole server so far, in microseconds. */
    cpu: () => (CAN_MEASURE ? cpuOfProcess(pid) + cpuOfEnded(pid) + cpuOfDescendants(pid) : undefined),

    async withDatabase(name, work) {
      const opened = await this.openDatabase(name);
      try {
        return await work(opened);
      } finally {
        await opened.close();
      }
    },

    /** A migrated database with products and a channel, which `close` drops. */
    async openDatabase(name) {
      await admin.query(`create database ${name}`);
      const url = Object.assign(new URL(server.url), { pathname: name }).href;
      const settings = readSettings({ DATA_DIR: dataDir, DATABASE_URL: url });
      const opened = await openDatabaseFromSettings(settings, { role: 'tool', log: () => undefined });
      const { database, vault } = opened;
      const maker = await longWork(url);
      const close = async () => {
        await maker.end();
        await opened.close();
        await admin.query(`drop database ${name} with (force)`);
      };
      try {
        const operator = { database, vault, environment: settings.environment, actor: 'bench' };
        for (const product of PRODUCTS) await createProduct(operator, { ...REST, ...product });
        const { channelId, ...secrets } = await provisionChannel({ operator, database });
        const channel = await createChannelRegistry(database, vault).getById(channelId);
        return { dataDir, place: { url, dataDir }, operator, channel, secrets, maker, close };
      } catch (error) {
        await close();
        throw error;
      }
    },

    async close() {
      await admin.end();
      await server.release();
    },
  };
}

async function openEmbeddedServer(dataDir) {
  const embedded = await openEmbedded({ dataDir, role: 'tool', log: () => undefined });
  return { url: embedded.url, data: path.join(dataDir, 'postgres'), release: () => embedded.release() };
}
