import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { tokenOf } from '../../bench/channel.mjs';
import { cellOfNumber } from '../../dist/platform/cells.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { readSettings } from '../../dist/platform/settings.js';
import { ENVIRONMENT, here } from '../ha/children.mjs';
import { MIX } from '../ha/load.mjs';
import { serverIdentity } from '../ha/programs.mjs';
import { startReceiver } from '../ha/receiver.mjs';
import { BANK } from '../ha/requests.mjs';
import {
  createInstitution,
  environment,
  openFolder,
  provisionCatalogue,
  provisionChannel,
  READY_SECONDS,
  serviceNode,
  withOperator,
} from '../ha/stand.mjs';
import { freePorts, until } from '../ha/waiting.mjs';
import { startLateWriter } from './late.mjs';
import { readExample, startProxy } from './proxy.mjs';
import { createServers, dataDirsIn } from './servers.mjs';

const PERENNIAL = here('../../bin/perennial.js');
/** The cell that stays, and the cell that moves. */
const CELLS = [0, 1];
const MOVED = 1;
const NODE_PORTS = [
  [8081, 8082],
  [8091, 8092],
];
const WAIT_SECONDS = '30';

/**
 * Opens the stand of one fault: two cells on a server with a streaming replica, haproxy with the file of deploy/cells,
 * two nodes and a channel for each cell, and one institution for both.
 */
export async function openStand({ logs, callers, interrupted, say }) {
  const identity = await serverIdentity();
  const { folder, children, end } = await openFolder({ name: 'cells', dataDirsIn, logs });
  const closing = [];
  const close = async () => {
    for (const one of closing) await one();
    await end();
  };
  try {
    say('  starting a server, its replica and haproxy\n');
    const proxyFolder = path.join(folder, 'haproxy');
    const example = await readExample(proxyFolder);
    const { port } = example;
    const servers = await createServers({
      ...{ folder, children, identity, interrupted },
      ports: { old: port(5501), new: port(5502) },
      databases: CELLS.map(nameOf),
    });
    const proxy = await startProxy({ folder: proxyFolder, example, children, interrupted });
    const publicUrl = `http://127.0.0.1:${port(8443)}`;
    const listenerUrl = (cell) => servers.ownerUrl(port(6000 + cell), nameOf(cell));
    const cellsFile = path.join(folder, 'cells.json');
    const described = CELLS.map((cell) => ({
      cell,
      database: listenerUrl(cell),
      url: `http://127.0.0.1:${port(8180 + cell)}`,
    }));
    await writeFile(cellsFile, JSON.stringify(described), { mode: 0o600 });
    const common = { ...environment(''), CELLS_FILE: cellsFile, DATABASE_POOL: '8' };
    const envOf = (cell) => ({ ...common, CELL: String(cell), DATABASE_URL: listenerUrl(cell) });

    const commands = { ...ENVIRONMENT, HOME: folder, DATA_DIR: folder, MASTER_KEY: common.MASTER_KEY };
    /** Runs a command of the service. `watch` gets its process, and what it has written to stderr so far. */
    async function perennial(args, { env = {}, watch } = {}) {
      const child = spawn(process.execPath, [PERENNIAL, ...args], {
        env: { ...commands, CELLS_FILE: cellsFile, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let stderr = '';
      child.stderr.on('data', (chunk) => {
        stderr += chunk;
        watch?.(child, stderr);
      });
      const [stdout, [code]] = await Promise.all([readAll(child.stdout), once(child, 'close')]);
      return { code, stdout, stderr };
    }
    async function mustRun(args, options) {
      const ran = await perennial(args, options);
      if (ran.code !== 0)
        throw new Error(`perennial ${args.slice(0, 2).join(' ')} ended with ${ran.code}: ${ran.stderr}`);
    }

    const [bankPort] = await freePorts(1);
    const bankUrl = `http://127.0.0.1:${bankPort}`;
    const bankKey = await withOperator(envOf(0), (operator) => provisionCatalogue(operator, bankUrl));
    await mustRun(['cell', 'init', '--like', listenerUrl(0), '--cell', String(MOVED)], {
      env: { DATABASE_URL: listenerUrl(MOVED) },
    });
    const receivers = [];
    const channels = [];
    for (const cell of CELLS) {
      const place = path.join(folder, `receiver-${cell}`);
      await mkdir(place);
      const receiver = await startReceiver(place);
      closing.push(() => receiver.close());
      receivers.push(receiver);
      const appId = `test_cell_${cell}`;
      channels.push(await withOperator(envOf(cell), (operator) => provisionChannel(operator, { appId, receiver })));
      await servers.old.query('create table prove_late (n integer)', [], nameOf(cell));
      await servers.old.query('grant all on prove_late to public', [], nameOf(cell));
    }
    await mustRun(['cell', 'map', '--output', example.files.map, '--haproxy', example.files.socket]);

    say('  starting the institution and four nodes of the service\n');
    const noticeUrl = `${publicUrl}/gateway/v1/notices/${BANK}`;
    const bankOptions = { dataDir: path.join(folder, 'institution'), port: bankPort, key: bankKey, noticeUrl };
    const institution = createInstitution({ children, options: bankOptions, url: bankUrl });
    const nodes = CELLS.map((cell) =>
      NODE_PORTS[cell].map((one, index) =>
        serviceNode({
          ...{ children, folder, interrupted },
          env: { ...envOf(cell), ...receivers[cell].env },
          port: port(one),
          name: `cell-${cell}-node-${index + 1}`,
        }),
      ),
    );
    await Promise.all([institution.start(), ...nodes.flat().map((node) => node.start())]);
    const limits = { seconds: READY_SECONDS, interrupted };
    const entrance = { name: 'haproxy', baseUrl: publicUrl };
    const cells = [];
    for (const cell of CELLS) {
      const token = await until('a token', () => tokenOf(publicUrl, channels[cell]), limits);
      cells.push({
        cell,
        /** Callers know only haproxy. */
        nodes: [entrance],
        channel: { ...channels[cell], token },
        receiver: receivers[cell],
        institution: { ledger: async () => ledgerOf(await institution.ledger(), cell) },
        mix: [...MIX, 'bound', 'bound', 'bound'],
        ...{ callers, interrupted },
        openDatabase: async () =>
          openDatabaseFromSettings(readSettings(envOf(cell)), { role: 'tool', log: () => undefined, attempts: 3 }),
      });
    }

    const split = (more, options) =>
      perennial(
        [
          ...['cell', 'split', String(MOVED), '--from', servers.old.urlOf('postgres')],
          ...['--to', servers.new.urlOf('postgres'), '--haproxy', example.files.socket],
          ...['--wait-seconds', WAIT_SECONDS, ...more],
        ],
        options,
      );
    return {
      cells,
      nodes,
      proxy,
      old: servers.old,
      new: servers.new,
      interrupted,
      /** The databases of the cell that moves, and of the cell that stays. */
      databases: { moved: nameOf(MOVED), stays: nameOf(1 - MOVED) },
      movedUrlOn: (server) => servers.ownerUrl(server.port, nameOf(MOVED)),
      /** Runs the split and returns how it ended. */
      trySplit: split,
      /** Runs the split, which must succeed. */
      async split(...more) {
        const { code, stderr } = await split(more, {});
        if (code !== 0) throw new Error(`the split ended with ${code}: ${stderr}`);
      },
      /** Starts programs that know only one server: of the moved cell the old one, of the other cell the new one. */
      startLateWriters: () => ({
        moved: startLateWriter(servers.ownerUrl(servers.old.port, nameOf(MOVED))),
        stays: startLateWriter(servers.ownerUrl(servers.new.port, nameOf(1 - MOVED))),
      }),
      async untilReady() {
        await Promise.all(nodes.flat().map((node) => node.untilReady()));
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const nameOf = (cell) => `cell_${cell}`;

/** The part of the ledger that belongs to a cell. What belongs to no cell is shown to cell 0, where it is a finding. */
function ledgerOf({ debits, refunds, ...rest }, cell) {
  const isOwn = (orderNo) => (cellOfNumber(Number(orderNo)) === MOVED) === (cell === MOVED);
  return {
    ...rest,
    debits: debits.filter(({ attemptNo }) => isOwn(attemptNo.slice(0, -6))),
    refunds: refunds.filter(({ refundNo }) => isOwn(refundNo.slice(1, -6))),
  };
}
