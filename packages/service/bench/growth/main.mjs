import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createChannel } from '../../dist/operator/provisioning/channels.js';
import { provisionInstitution } from '../channel.mjs';
import { makeChannels } from '../deliveries/events.mjs';
import { machineFacts } from '../facts.mjs';
import { openServer } from '../renewals/server.mjs';
import { BRIDGE } from '../rows.mjs';
import { openStage } from '../stage.mjs';
import { loadOrders } from './load.mjs';
import { plotOf } from './plot.mjs';
import { measureOn } from './rows.mjs';
import { growthOf } from './table.mjs';

export { HELP, readOptions } from './options.mjs';
export { ratiosOf, report } from './table.mjs';

/** The number of channels besides the first. The first sends the requests and has at least a third of the orders. */
const OTHER_CHANNELS = 19;
const RECEIVERS = 10;

/**
 * Grows one database from size to size and measures the same work at each size. A second database, on another server,
 * stays at the smallest size. Measurements on both databases alternate.
 */
export async function bench({ sizes, plot, rows, postgres, ...options }, { running, keep, say }) {
  const facts = await machineFacts();
  const [smallest] = sizes;
  const kept = keep(() => openGrowing(running, postgres, facts));
  let loaded = 0;
  let stage;
  for (const size of sizes) {
    const about = (name) => ({ row: `${name}, ${size} orders`, name, size });
    await kept.measure(about('load'), async (opened) => {
      if (size === smallest) await grow(opened.small, { from: 0, to: size, say });
      const seconds = await grow(opened.grown, { from: loaded, to: size, say });
      [loaded, stage] = [size, opened];
      return { seconds, bytes: await bytesOf(opened.grown) };
    });
    for (const name of rows) {
      await kept.measure(about(name), async (opened) => {
        if (opened !== stage || loaded !== size)
          throw new Error('the orders are not there: a row before this one failed');
        const grown = { place: opened.grown, size };
        const small = { place: opened.small, size: smallest };
        return measureOn(size === smallest ? [grown] : [grown, small], { name, ...options });
      });
    }
  }
  await kept.close();
  const result = { facts, sizes, ...options, results: kept.results };
  if (plot !== undefined) await writeFile(plot, plotOf(growthOf(result)));
  return result;
}

async function openGrowing(running, postgres, facts) {
  const stage = await openStage(running, postgres);
  facts.postgres = stage.server.version;
  let other;
  const close = async () => {
    await running.stop();
    await other?.close().catch(() => undefined);
    await stage.close();
  };
  try {
    const folder = path.join(stage.dataDir, 'small');
    await mkdir(folder);
    other = await openServer(folder, postgres);
    const receiver = running.startHelper('the receivers', 'deliveries/receiver.mjs');
    const { value: ports } = await receiver.ask('open', { receivers: RECEIVERS });
    const parts = { running, receiver, receivers: RECEIVERS, ports };
    const grown = await openPlace(stage.server, parts);
    const small = await openPlace(other, parts);
    const isUsable = async () => {
      for (const { maker } of [grown, small]) await maker.query('select');
      return true;
    };
    // `close` need not drop the databases, because it removes the whole folder.
    return { grown, small, close, isUsable };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens a database with channels and an institution. */
async function openPlace(server, { ports, ...parts }) {
  const database = await server.openDatabase('growth');
  const { dataDir, operator, maker, channel } = database;
  await maker.query(`alter system set max_wal_size = '8GB'`);
  await maker.query('select pg_reload_conf()');
  const channelIds = [channel.channelId];
  for (let n = 0; n < OTHER_CHANNELS; n += 1) {
    const { appId } = await createChannel(operator, { name: `Bench channel ${n}` });
    const [row] = await maker.query('select channel_id as id from channels where app_id = $1', [appId]);
    channelIds.push(row.id);
  }
  await provisionInstitution(database, (key) =>
    parts.running.startInstitution({ dataDir: path.join(dataDir, 'institution'), key }),
  );
  await makeChannels(database, ports.accepting);
  return { ...database, ...parts, server, channelIds };
}

async function grow({ maker, channelIds }, { from, to, say }) {
  const since = performance.now();
  const run = (text, values) => maker.query(text, values);
  // Disables autovacuum during the measurement. loadOrders vacuums these tables.
  for (const table of [
    'orders',
    'payments',
    'benefits',
    'external_orders',
    'agreements',
    'channel_users',
    'debit_attempts',
  ]) {
    await run(`alter table ${table} set (autovacuum_enabled = false)`);
  }
  await loadOrders(run, { from, to, channelIds, paymentChannelCode: BRIDGE, productCode: 'MONTHLY', say });
  await run('checkpoint');
  return (performance.now() - since) / 1000;
}

async function bytesOf({ maker }) {
  const [{ bytes }] = await maker.query('select pg_database_size(current_database())::double precision as bytes');
  return bytes;
}
