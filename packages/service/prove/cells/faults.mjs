import { SPLIT_STEPS } from '../../dist/operator/cells/split.js';
import { sleep, until } from '../ha/waiting.mjs';
import { postgresProgram } from './servers.mjs';

/** The faults that are played under load, each with a split on a new stand. When a fault ends, the split is done. */
export const FAULTS = [
  {
    name: 'split',
    about: 'a split',
    play: ({ split }) => split(),
  },
  {
    name: 'old-killed',
    about: 'kill -9 of the old server when the replica has everything; it is started after the split',
    async play({ split, old }) {
      await split('--until', 'wait');
      await old.kill();
      await split();
      await old.start();
      await split();
    },
  },
  {
    name: 'old-killed-early',
    about: 'kill -9 of the old server after the fence, while the replica lags; it is started before the split goes on',
    async play({ split, trySplit, old, new: replica, interrupted }) {
      await replica.query('select pg_wal_replay_pause()');
      const isPaused = async () => {
        const [{ state }] = await replica.query('select pg_get_wal_replay_pause_state() as state');
        return state === 'paused';
      };
      await until('the replica lags', isPaused, { seconds: 20, interrupted });
      await split('--until', 'fence');
      await old.kill();
      await mustFail(trySplit([]), 'without the last commits');
      await replica.query('select pg_wal_replay_resume()');
      await old.start();
      await split();
    },
  },
  {
    name: 'replica-killed',
    about: 'kill -9 of the replica while it is promoted',
    async play({ split, trySplit, new: replica }) {
      const promote = `${postgresProgram('psql')} '${replica.urlOf('postgres')}' -qXc 'select pg_promote(false)'`;
      const kill = `kill -9 $(head -n 1 '${replica.dataDir}/postmaster.pid')`;
      await mustFail(trySplit(['--promote-command', `${promote} && ${kill}; exit 1`]), 'with a dead replica');
      await replica.kill();
      await replica.start();
      await split();
    },
  },
  {
    name: 'stale-node',
    about: 'a node has the address of the old server, and is killed and started with it after the split',
    async before({ nodes: [, [, stale]], movedUrlOn, old }) {
      await stale.end('SIGTERM');
      await stale.start({ DATABASE_URL: movedUrlOn(old) });
    },
    async play({ split, nodes: [, [, stale]], movedUrlOn, old, interrupted }) {
      await split();
      await sleep(3, interrupted);
      await stale.end('SIGKILL');
      const starting = stale.start({ DATABASE_URL: movedUrlOn(old) }).catch(() => undefined);
      await sleep(5, interrupted);
      if (await stale.isReady()) throw new Error('a node works on the fenced server');
      await stale.end('SIGKILL');
      await starting;
      await stale.start();
    },
  },
  {
    name: 'haproxy-restarted',
    about: 'haproxy is restarted before the switch, and after it, when it forgets the new address',
    async play({ split, proxy, interrupted }) {
      await split('--until', 'open');
      await proxy.restart();
      await split();
      await sleep(2, interrupted);
      await proxy.restart();
      await sleep(2, interrupted);
      await split();
    },
  },
  {
    name: 'interrupted',
    about: 'kill -9 of the split in every step, each time run again',
    async play({ split, trySplit }) {
      for (const step of SPLIT_STEPS) {
        await trySplit(['--until', step], {
          watch(command, said) {
            if (said.includes(`${step} …`)) command.kill('SIGKILL');
          },
        });
      }
      await split();
    },
  },
  {
    name: 'cancelled',
    about: 'the split is cancelled when the replica has everything, and begun again',
    async play({ split, interrupted }) {
      await split('--until', 'wait');
      await split('--cancel');
      await sleep(5, interrupted);
      await split();
    },
  },
];

/** The faults of a short run. */
export const SHORT = ['interrupted'];

async function mustFail(running, how) {
  const { code } = await running;
  if (code === 0) throw new Error(`the split went on ${how}`);
}
