import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FAKETIME } from './programs.mjs';
import { sleep } from './waiting.mjs';

/**
 * The faults that are played under load. When a fault ends, stopped processes continue; killed processes are restarted
 * afterwards.
 */
export const FAULTS = [
  {
    name: 'primary-killed',
    about: 'kill -9 of the primary and its Patroni',
    times: 2,
    play: ({ cluster }) => killPrimary(cluster),
  },
  {
    name: 'primary-and-node-killed',
    about: 'kill -9 of the primary, its Patroni and a service node',
    times: 1,
    async play({ cluster, nodes }) {
      await nodes[1].end('SIGKILL');
      await killPrimary(cluster);
    },
  },
  {
    name: 'node-killed',
    about: 'kill -9 of a service node',
    times: 1,
    async play({ nodes, interrupted }) {
      await nodes[0].end('SIGKILL');
      await sleep(5, interrupted);
    },
  },
  {
    name: 'node-frozen',
    about: 'SIGSTOP of a service node for 30 s',
    times: 1,
    play: ({ cluster, nodes, interrupted }) => frozen(cluster, [nodes[2].process()], 30, interrupted),
  },
  {
    name: 'primary-frozen',
    about: 'SIGSTOP of the primary, Patroni and PostgreSQL, for 30 s',
    times: 1,
    play: ({ cluster, interrupted }) => freezePrimary(cluster, 30, interrupted),
  },
  {
    name: 'primary-postgres-frozen',
    about: 'SIGSTOP of the primary’s PostgreSQL only, for 30 s',
    times: 1,
    async play({ cluster, interrupted }) {
      const { primary } = await cluster.roles();
      await frozen(cluster, cluster.postgresOf(primary), 30, interrupted);
    },
  },
  {
    name: 'sync-standby-frozen',
    about: 'SIGSTOP of the synchronous standby for 40 s',
    times: 1,
    async play({ cluster, interrupted }) {
      const { sync } = await cluster.roles();
      await frozen(cluster, cluster.processesOf(sync), 40, interrupted);
    },
  },
  {
    name: 'standbys-frozen',
    about: 'SIGSTOP of both standbys for 45 s',
    times: 1,
    async play({ cluster, interrupted }) {
      await frozen(cluster, await standbyProcesses(cluster), 45, interrupted);
    },
  },
  {
    name: 'standbys-frozen-primary-killed',
    about: 'SIGSTOP of both standbys, kill -9 of the primary after 15 s, the standbys go on after 20 s',
    times: 1,
    async play({ cluster, interrupted }) {
      const { primary } = await cluster.roles();
      const goOn = cluster.freeze(await standbyProcesses(cluster));
      try {
        await sleep(15, interrupted);
        cluster.kill(primary);
        await sleep(5, interrupted);
      } finally {
        goOn();
      }
      await cluster.newPrimary(primary);
    },
  },
  {
    name: 'primary-frozen-sessions-kept',
    about: 'SIGSTOP of the primary for 75 s, haproxy without shutdown-sessions',
    times: 1,
    before: ({ cluster }) => cluster.useProxy({ shutsSessions: false }),
    play: ({ cluster, interrupted }) => freezePrimary(cluster, 75, interrupted),
    after: ({ cluster }) => cluster.useProxy({ shutsSessions: true }),
  },
  {
    name: 'primary-restarted',
    about: 'pg_ctl restart -m immediate of the primary',
    times: 3,
    async play({ cluster }) {
      const { primary } = await cluster.roles();
      await cluster.restartImmediately(primary);
    },
  },
  {
    name: 'etcd-killed',
    about: 'kill -9 of etcd for 40 s',
    times: 1,
    async play({ cluster, interrupted }) {
      cluster.killEtcd();
      await sleep(40, interrupted);
    },
  },
  {
    name: 'disk-full',
    about: 'no space left on the disk of the primary for 30 s',
    times: 1,
    needsRoot: true,
    async play({ cluster, interrupted }) {
      const { primary } = await cluster.roles();
      const free = await cluster.fillDisk(primary);
      try {
        await sleep(30, interrupted);
      } finally {
        await free();
      }
    },
  },
  {
    name: 'clock-jumped',
    about: 'the clock of a service node jumps an hour ahead for 20 s, and then back',
    times: 1,
    async before(stand) {
      await setClock(stand, 0);
      await restart(stand.nodes[1], clockSettings(stand));
    },
    async play(stand) {
      await setClock(stand, 3_600);
      await sleep(20, stand.interrupted);
      await setClock(stand, 0);
    },
    after: ({ nodes }) => restart(nodes[1]),
  },
  {
    name: 'institution-killed',
    about: 'kill -9 of the institution for 25 s',
    times: 1,
    async play({ institution, interrupted }) {
      await institution.end('SIGKILL');
      await sleep(25, interrupted);
    },
  },
  {
    name: 'institution-frozen',
    about: 'SIGSTOP of the institution for 25 s',
    times: 1,
    async play({ cluster, institution, interrupted }) {
      await frozen(cluster, [institution.process()], 25, interrupted);
    },
  },
  {
    name: 'institution-faulty',
    about: 'for 25 s the institution drops connections after debits and refunds, fails, and declines for now',
    times: 1,
    async play({ institution, interrupted }) {
      // If several rules match a request, the last of them applies. After a rule was applied as often as it allows, it
      // no longer matches.
      for (const rule of INSTITUTION_FAULTS) await institution.set(rule);
      await sleep(25, interrupted);
      await institution.clear();
    },
  },
];

const INSTITUTION_FAULTS = [
  { fault: 'answer-lost', operation: 'debit', times: 40 },
  { fault: 'answer-lost', operation: 'refund', times: 10 },
  { fault: 'error-before', operation: 'debit', times: 20 },
  { fault: 'error-after', operation: 'refund', times: 10 },
  { fault: 'error-before', operation: 'debit-query', times: 10 },
  { fault: 'decline-retryable', operation: 'debit', times: 30 },
];

/** The faults of a short run, which takes a few minutes. */
export const SHORT = ['primary-killed', 'node-killed', 'primary-restarted'];

const clockFile = ({ folder }) => path.join(folder, 'clock');

/** Sets the clock ahead by `seconds`. Processes read the file once a second. */
const setClock = (stand, seconds) => writeFile(clockFile(stand), `+${seconds}\n`);

/** Environment variables that fake the time of day of a process, not its monotonic clocks. */
const clockSettings = (stand) => ({
  LD_PRELOAD: FAKETIME,
  FAKETIME_TIMESTAMP_FILE: clockFile(stand),
  FAKETIME_CACHE_DURATION: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});

async function restart(node, settings) {
  await node.end('SIGTERM');
  await node.start(settings);
}

async function killPrimary(cluster) {
  const { primary } = await cluster.roles();
  cluster.kill(primary);
  await cluster.newPrimary(primary);
}

async function freezePrimary(cluster, seconds, interrupted) {
  const { primary } = await cluster.roles();
  await frozen(cluster, cluster.processesOf(primary), seconds, interrupted);
}

async function standbyProcesses(cluster) {
  const { sync, other } = await cluster.roles();
  return [sync, other].flatMap(cluster.processesOf);
}

async function frozen(cluster, processes, seconds, interrupted) {
  const goOn = cluster.freeze(processes);
  try {
    await sleep(seconds, interrupted);
  } finally {
    goOn();
  }
}
