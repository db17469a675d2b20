import { sleep } from './waiting.mjs';

/**
 * What is done to the stand while it is under load. A fault ends when whatever it has stopped goes on; what it has killed is
 * started again afterwards.
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
      kill(nodes[1]);
      await killPrimary(cluster);
    },
  },
  {
    name: 'node-killed',
    about: 'kill -9 of a service node',
    times: 1,
    async play({ nodes, interrupted }) {
      kill(nodes[0]);
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
    times: 5,
    async play({ cluster }) {
      const { primary } = await cluster.roles();
      await cluster.restartImmediately(primary);
    },
  },
];

/** A look at everything in a few minutes. */
export const SHORT = ['primary-killed', 'node-killed', 'primary-restarted'];

function kill(node) {
  process.kill(node.process().pid, 'SIGKILL');
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
