import { writeFile } from 'node:fs/promises';
import { createChannel } from '../../dist/operator/provisioning/channels.js';
import { provisionInstitution } from '../channel.mjs';
import { makeChannels } from '../deliveries/events.mjs';
import { machineFacts } from '../facts.mjs';
import { BRIDGE } from '../rows.mjs';
import { openStage } from '../stage.mjs';
import { loadOrders } from './load.mjs';
import { plotOf } from './plot.mjs';
import { measureOn } from './rows.mjs';
import { growthOf } from './table.mjs';

export { HELP, readOptions } from './options.mjs';
export { ratiosOf, report } from './table.mjs';

/** Beside the one that requests come from, which has a third of the orders. */
const OTHER_CHANNELS = 19;
const RECEIVERS = 10;

/** One database that grows from size to size, and at each of them what the same work costs. */
export async function bench({ sizes, plot, rows, postgres, ...options }, { running, keep, say }) {
  const facts = await machineFacts();
  const kept = keep(() => openGrowing(running, postgres, facts));
  let loaded = 0;
  let place;
  for (const size of sizes) {
    const about = (name) => ({ row: `${name}, ${size} orders`, name, size });
    await kept.measure(about('load'), async (stage) => {
      const seconds = await grow(stage, { from: loaded, to: size, say });
      [loaded, place] = [size, stage];
      return { seconds, ...(await bytesOf(stage)) };
    });
    for (const name of rows) {
      await kept.measure(about(name), async (stage) => {
        if (stage !== place || loaded !== size)
          throw new Error('the orders are not there, since a row before this one failed');
        return measureOn(stage, { name, size, ...options });
      });
    }
  }
  await kept.close();
  const result = { facts, sizes, ...options, results: kept.results };
  if (plot !== undefined) await writeFile(plot, plotOf(growthOf(result)));
  return result;
}

/** A server with one database, its channels and an institution. Rows run in processes of their own. */
async function openGrowing(running, postgres, facts) {
  const stage = await openStage(running, postgres);
  facts.postgres = stage.server.version;
  try {
    const database = await stage.server.openDatabase('growth');
    const { operator, maker, channel } = database;
    await maker.query(`alter system set max_wal_size = '8GB'`);
    await maker.query('select pg_reload_conf()');
    const channelIds = [channel.channelId];
    for (let n = 0; n < OTHER_CHANNELS; n += 1) {
      const { appId } = await createChannel(operator, { name: `Bench channel ${n}` });
      const [row] = await maker.query('select channel_id as id from channels where app_id = $1', [appId]);
      channelIds.push(row.id);
    }
    const institutionPid = await provisionInstitution(database, (key) =>
      running.startInstitution({ dataDir: `${stage.dataDir}/institution`, key }),
    );
    const receiver = running.startHelper('the receivers', 'deliveries/receiver.mjs');
    const { value: ports } = await receiver.ask('open', { receivers: RECEIVERS });
    await makeChannels(database, ports.accepting);
    const isUsable = async () => (await maker.query('select')).length === 1;
    // The database goes with the server's folder.
    return {
      ...stage,
      ...database,
      close: stage.close,
      isUsable,
      channelIds,
      institutionPid,
      receiver,
      receivers: RECEIVERS,
    };
  } catch (error) {
    await stage.close();
    throw error;
  }
}

async function grow({ maker, channelIds }, { from, to, say }) {
  const since = performance.now();
  const run = (text, values) => maker.query(text, values);
  // Vacuum has been done when it is over, and does not run beside what is measured.
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
  return { bytes };
}
