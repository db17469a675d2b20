import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { tokenOf } from '../../bench/channel.mjs';
import { setCallback } from '../../dist/operator/provisioning/channel-settings.js';
import { createChannel } from '../../dist/operator/provisioning/channels.js';
import { authorizePaymentChannel } from '../../dist/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../dist/operator/provisioning/payment-channels.js';
import { authorizeProduct, createProduct } from '../../dist/operator/provisioning/products.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { readSettings } from '../../dist/platform/settings.js';
import { createChildren, here } from './children.mjs';
import { dataDirsIn, startCluster } from './cluster.mjs';
import { requirePrograms, serverIdentity } from './programs.mjs';
import { startReceiver } from './receiver.mjs';
import { BANK, PRODUCT } from './requests.mjs';
import { signal } from './signals.mjs';
import { freePorts, until } from './waiting.mjs';

export const READY_SECONDS = 60;
/** The program that `npm start` and the image run. */
const MAIN = here('../../dist/program/main.js');

/** Opens the stand on which faults are played: servers, institution, receiver, nodes of the service and a channel. */
export async function openStand({ logs, callers, interrupted, say }) {
  await requirePrograms(say);
  const identity = await serverIdentity();
  const { folder, children, end } = await openFolder({ name: 'ha', dataDirsIn, logs });
  let receiver;
  let cluster;

  async function close() {
    receiver?.close();
    await end(cluster?.close);
  }

  try {
    receiver = await startReceiver(folder);
    say('  starting etcd, three servers under Patroni and haproxy\n');
    cluster = await startCluster({ folder, children, identity, interrupted });
    const env = { ...environment(await cluster.createDatabase()), ...receiver.env };
    const [bankPort, ...nodePorts] = await freePorts(4);
    const bankUrl = `http://127.0.0.1:${bankPort}`;
    const { bankKey, channel } = await withOperator(env, async (operator) => ({
      bankKey: await provisionCatalogue(operator, bankUrl),
      channel: await provisionChannel(operator, { appId: 'test_ha', receiver }),
    }));

    say(`  starting the institution and ${nodePorts.length} nodes of the service\n`);
    const noticeUrl = `http://127.0.0.1:${nodePorts[0]}/gateway/v1/notices/${BANK}`;
    const bankOptions = { dataDir: path.join(folder, 'institution'), port: bankPort, key: bankKey, noticeUrl };
    const institution = createInstitution({ children, options: bankOptions, url: bankUrl });
    const nodes = nodePorts.map((port, index) =>
      serviceNode({ children, env, folder, port, name: `node-${index + 1}`, interrupted }),
    );
    await Promise.all([institution.start(), ...nodes.map((node) => node.start())]);
    const token = await until('a token', () => tokenOf(nodes[0].baseUrl, channel), {
      seconds: READY_SECONDS,
      interrupted,
    });

    return {
      folder,
      cluster,
      institution,
      nodes,
      receiver,
      channel: { ...channel, token },
      callers,
      interrupted,
      /** Opens a database connection as an operator's command does. */
      openDatabase: async () =>
        openDatabaseFromSettings(readSettings(env), { role: 'tool', log: () => undefined, attempts: 3 }),
      /** Restores the state before the fault: all servers, the institution, all nodes. */
      async heal() {
        await cluster.heal();
        await Promise.all([institution, ...nodes].filter((one) => one.hasEnded()).map((one) => one.start()));
        await Promise.all(nodes.map((node) => node.untilReady()));
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Creates a stand's folder, in which its processes work and log. `end` ends them and removes it. */
export async function openFolder({ name, dataDirsIn: dirsIn, logs }) {
  const folder = await mkdtemp(path.join(os.tmpdir(), `perennial-${name}-`));
  // Everyone can pass through the folder, but only the servers can read their subfolders.
  await chmod(folder, 0o711);
  const logDir = path.join(folder, 'logs');
  await mkdir(logDir, { mode: 0o700 });
  const children = createChildren({ folder, logDir, dataDirs: dirsIn(folder) });
  return {
    folder,
    children,
    async end(release) {
      if (logs !== undefined) await cp(logDir, logs, { recursive: true });
      await children.end(release);
    },
  };
}

/** The settings that all nodes share. */
export const environment = (databaseUrl) => ({
  DATABASE_URL: databaseUrl,
  MASTER_KEY: randomBytes(32).toString('base64'),
  // All nodes have the same URLs, as behind a proxy, so that a response replayed by another node has the same link.
  PUBLIC_URL: 'https://pay.example',
  REDEEM_URL: 'https://redeem.example',
  // Raises the limit per IP address, because all users of the load have one address.
  REDEEM_OPENS_PER_MINUTE: '1000000',
  LOG_LEVEL: 'warn',
});

export async function withOperator(env, work) {
  const settings = readSettings(env);
  const opened = await openDatabaseFromSettings(settings, { role: 'tool', log: () => undefined });
  try {
    return await work({ ...opened, environment: settings.environment, actor: 'prove' });
  } finally {
    await opened.close();
  }
}

/** Creates the product and the payment channel. Returns the key that the institution shares. */
export async function provisionCatalogue(operator, bankUrl) {
  await createProduct(operator, PRODUCT);
  const { gatewayKey } = await createPaymentChannel(operator, {
    code: BANK,
    displayName: 'Bank',
    gateway: 'bridge',
    gatewayUrl: bankUrl,
    supportedBanks: ['*'],
  });
  return gatewayKey;
}

export async function provisionChannel(operator, { appId, receiver }) {
  // The highest limits an operator can set, because the load does not test rate limits.
  const limits = { ratePerSecond: 1_000_000, rateBurst: 10_000_000 };
  const channel = await createChannel(operator, { appId, name: 'Fail-over', ...limits });
  await authorizeProduct(operator, { appId, productCode: PRODUCT.productCode });
  await authorizePaymentChannel(operator, { appId, code: BANK, isDefault: true, shareEnabled: true });
  await setCallback(operator, { appId, url: receiver.url });
  receiver.use(channel.callbackSecret);
  return channel;
}

/** Creates the reference institution, whose ledger survives restarts. */
export function createInstitution({ children, options, url }) {
  let running;
  const post = async (fields) => {
    const body = JSON.stringify(fields);
    const answer = await fetch(`${url}/control`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    });
    if (!answer.ok) throw new Error(`the institution answered ${answer.status} ${await answer.text()}`);
  };
  return {
    async start() {
      running = await children.startNode({ name: 'institution', file: 'institution.mjs', options });
    },
    /** Ends the institution by a signal and waits for its exit. */
    async end(name) {
      signal([running.identity], name);
      await running.ended;
    },
    process: () => running.identity,
    hasEnded: () => running.hasEnded(),
    /** Sets a fault for the next requests of one kind. `clear` removes all faults. */
    set: (rule) => post({ action: 'set', ...rule }),
    clear: () => post({ action: 'clear' }),
    async ledger() {
      const answer = await fetch(`${url}/ledger`);
      return answer.json();
    },
  };
}

/** Creates a node of the service: the program that users run, as if on a separate machine. */
export function serviceNode({ children, env, folder, port, name, interrupted }) {
  let running;
  const baseUrl = `http://127.0.0.1:${port}`;
  const node = {
    name,
    baseUrl,
    /** Starts the node. `more` has settings for this start only. */
    async start(more = {}) {
      running = await children.start({
        name,
        role: 'node',
        command: process.execPath,
        args: ['--import', here('receiver-route.mjs'), MAIN],
        env: { ...env, PORT: String(port), DATA_DIR: path.join(folder, name), ...more },
      });
      await node.untilReady();
    },
    /** Ends the node by a signal and waits for its exit. */
    async end(name) {
      signal([running.identity], name);
      await running.ended;
    },
    process: () => running.identity,
    hasEnded: () => running.hasEnded(),
    async isReady() {
      const answer = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
      return answer?.status === 200;
    },
    async untilReady() {
      const limits = { seconds: READY_SECONDS, interrupted };
      await until(`${name} is ready`, async () => running.hasEnded() || node.isReady(), limits);
      if (running.hasEnded()) throw await running.endedTooEarly();
    },
  };
  return node;
}
