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

/** The products of the renewed orders: monthly periods with one or two benefits. */
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

/** Opens a connection without a timeout, because creating millions of orders takes longer than the service allows. */
export async function longWork(url) {
  const client = new pg.Client({ connectionString: url, options: '-c TimeZone=Asia/Shanghai' });
  // If the server is lost, only the query fails. Without a listener the bench would end.
  client.on('error', () => undefined);
  await client.connect();
  return { query: async (text, values) => (await client.query(text, values)).rows, end: () => client.end() };
}

/**
 * Opens a PostgreSQL server with a separate database for each row, so that vacuum of one database does not affect the
 * next row. Uses the programs in `bin` if given, otherwise the embedded server. With `isKept`, databases that the folder
 * already has are opened and not created, and nothing is removed.
 */
export async function openServer(dataDir, bin, { isKept = false } = {}) {
  const own = isKept ? path.join(dataDir, 'own-postgres') : undefined;
  const server = bin ? await openOwnServer(bin, own) : await openEmbeddedServer(dataDir);
  const admin = new pg.Client(server.url);
  admin.on('error', () => undefined);
  await admin.connect();
  const [pid] = readFileSync(path.join(server.data, 'postmaster.pid'), 'utf8').split('\n').map(Number);
  const { rows } = await admin.query(`select current_setting('server_version') as version`);
  return {
    version: rows[0].version,

    /** Returns the CPU time of the whole server so far, in microseconds. */
    cpu: () => (CAN_MEASURE ? cpuOfProcess(pid) + cpuOfEnded(pid) + cpuOfDescendants(pid) : undefined),

    async withDatabase(name, work) {
      const opened = await this.openDatabase(name);
      try {
        return await work(opened);
      } finally {
        await opened.close();
      }
    },

    /** Creates a migrated database with products and a channel. `close` drops it. */
    async openDatabase(name) {
      const { rowCount } = await admin.query('select from pg_database where datname = $1', [name]);
      const isNew = rowCount === 0;
      if (isNew) await admin.query(`create database ${name}`);
      const url = Object.assign(new URL(server.url), { pathname: name }).href;
      const settings = readSettings({ DATA_DIR: dataDir, DATABASE_URL: url });
      const opened = await openDatabaseFromSettings(settings, { role: 'tool', log: () => undefined });
      const { database, vault } = opened;
      const maker = await longWork(url);
      const close = async () => {
        await maker.end();
        await opened.close();
        if (!isKept) await admin.query(`drop database ${name} with (force)`);
      };
      try {
        const operator = { database, vault, environment: settings.environment, actor: 'bench' };
        if (!isNew) return { dataDir, place: { url, dataDir }, operator, maker, close, isNew };
        for (const product of PRODUCTS) await createProduct(operator, { ...REST, ...product });
        const { channelId, ...secrets } = await provisionChannel({ operator, database });
        const channel = await createChannelRegistry(database, vault).getById(channelId);
        return { dataDir, place: { url, dataDir }, operator, channel, secrets, maker, close, isNew };
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
