import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { tokenOf } from '../../bench/channel.mjs';
import { setCallback } from '../../dist/operator/provisioning/channel-settings.js';
import { createChannel } from '../../dist/operator/provisioning/channels.js';
import { authorizePaymentChannel } from '../../dist/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../dist/operator/provisioning/payment-channels.js';
import { authorizeProduct, createProduct } from '../../dist/operator/provisioning/products.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { readSettings } from '../../dist/platform/settings.js';
import { createChildren } from './children.mjs';
import { dataDirsIn, startCluster } from './cluster.mjs';
import { requirePrograms, serverIdentity } from './programs.mjs';
import { startReceiver } from './receiver.mjs';
import { BANK, PRODUCT } from './requests.mjs';
import { freePorts, until } from './waiting.mjs';

const NODES = 3;
const READY_SECONDS = 60;
const DATABASE = 'perennial';

/** Cluster, institution, receiver, three nodes and a channel: everything that the faults are played on. */
export async function openStand({ logs, interrupted, say }) {
  await requirePrograms(say);
  const identity = await serverIdentity();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-ha-'));
  // The servers have folders of their own in it, which only they can read.
  await chmod(folder, 0o711);
  const logDir = path.join(folder, 'logs');
  await mkdir(logDir, { mode: 0o700 });
  const children = createChildren({ folder, logDir, dataDirs: dataDirsIn(folder) });
  const receiver = await startReceiver();

  async function close() {
    receiver.close();
    if (logs !== undefined) await cp(logDir, logs, { recursive: true });
    await children.end();
  }

  try {
    say('  starting etcd, three servers under Patroni and haproxy\n');
    const cluster = await startCluster({ folder, children, identity, interrupted });
    const env = await environment(cluster, folder);
    const ports = await freePorts(NODES + 1);
    const [bankPort, ...nodePorts] = ports;
    const bankUrl = `http://127.0.0.1:${bankPort}`;
    const { channel, bankKey } = await withOperator(env, (operator) => provision(operator, { receiver, bankUrl }));
    receiver.use(channel.callbackSecret);

    say('  starting the institution and three nodes of the service\n');
    const noticeUrl = `http://127.0.0.1:${nodePorts[0]}/gateway/v1/notices/${BANK}`;
    const bankOptions = { dataDir: path.join(folder, 'institution'), port: bankPort, key: bankKey, noticeUrl };
    await children.startNode({ name: 'institution', file: 'institution.mjs', options: bankOptions });
    const nodes = nodePorts.map((port, index) => serviceNode({ children, env, port, name: `node-${index + 1}` }));
    await Promise.all(nodes.map((node) => node.start()));
    const token = await tokenOf(nodes[0].baseUrl, channel);

    return {
      cluster,
      nodes,
      receiver,
      channel: { ...channel, token },
      interrupted,
      /** A connection to the database, as a command of the operator would have it. */
      openDatabase: async () =>
        openDatabaseFromSettings(readSettings(env), { role: 'tool', log: () => undefined, attempts: 3 }),
      async ledger() {
        const answer = await fetch(`${bankUrl}/ledger`);
        return (await answer.json()).debits;
      },
      /** Everything is as it was before the fault: all servers, all nodes. */
      async heal() {
        await cluster.heal();
        await Promise.all(nodes.filter((node) => node.hasEnded()).map((node) => node.start()));
        await until(
          'every node is ready',
          async () => (await Promise.all(nodes.map((node) => node.isReady()))).every(Boolean),
          {
            seconds: READY_SECONDS,
            interrupted,
          },
        );
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A database for the service, and what its nodes have in common. */
async function environment(cluster, folder) {
  const password = randomBytes(18).toString('base64url');
  const client = new pg.Client({ connectionString: cluster.superuserUrl });
  await client.connect();
  try {
    await client.query(`create role ${DATABASE} login password '${password}'`);
    await client.query(`create database ${DATABASE} owner ${DATABASE}`);
  } finally {
    await client.end();
  }
  return {
    DATABASE_URL: cluster.urlOf({ user: DATABASE, password, database: DATABASE }),
    MASTER_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: path.join(folder, 'service'),
    HOST: '127.0.0.1',
    // The same for all: an answer that is given again by another node has the same link.
    PUBLIC_URL: 'https://pay.example',
    LOG_LEVEL: 'warn',
  };
}

async function withOperator(env, work) {
  const settings = readSettings(env);
  const opened = await openDatabaseFromSettings(settings, { role: 'tool', log: () => undefined });
  try {
    // The receiver is on this machine.
    return await work({ ...opened, environment: settings.environment, actor: 'prove', localCallbacks: true });
  } finally {
    await opened.close();
  }
}

async function provision(operator, { receiver, bankUrl }) {
  // As high as an operator can set it: the load is not about rates.
  const limits = { ratePerSecond: 1_000_000, rateBurst: 10_000_000 };
  const channel = await createChannel(operator, { appId: 'test_ha', name: 'Fail-over', ...limits });
  const { appId } = channel;
  await createProduct(operator, PRODUCT);
  await authorizeProduct(operator, { appId, productCode: PRODUCT.productCode });
  const { gatewayKey: bankKey } = await createPaymentChannel(operator, {
    code: BANK,
    displayName: 'Bank',
    gateway: 'bridge',
    gatewayUrl: bankUrl,
    supportedBanks: ['*'],
  });
  await authorizePaymentChannel(operator, { appId, code: BANK, isDefault: true, shareEnabled: true });
  await setCallback(operator, { appId, url: receiver.url });
  return { channel, bankKey };
}

function serviceNode({ children, env, port, name }) {
  let running;
  const baseUrl = `http://127.0.0.1:${port}`;
  return {
    name,
    baseUrl,
    async start() {
      running = await children.startNode({ name, file: 'node.mjs', env: { ...env, PORT: String(port) } });
    },
    process: () => running.identity,
    hasEnded: () => running.hasEnded(),
    async isReady() {
      const answer = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
      return answer?.status === 200;
    },
  };
}
