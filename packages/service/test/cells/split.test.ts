import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SPLIT_STEPS } from '../../src/operator/cells/split.js';
import { type Database, openDatabase } from '../../src/platform/db/database.js';
import { until } from '../support/processes.js';
import { createPair, type Pair } from './servers.js';

/** Stores rows in a cell, one after the other, over the listener. Returns the confirmed ones when it is stopped. */
function write(url: string, prefix: string) {
  const database = openDatabase({ url, pool: 1, name: 'load', statementMs: 2_000 });
  const confirmed: string[] = [];
  const failed: string[] = [];
  let isStopped = false;
  const running = (async () => {
    for (let n = 1; !isStopped; n += 1) {
      const what = `${prefix}-${n}`;
      await database.query('insert into kept values ($1)', [what]).then(
        () => confirmed.push(what),
        () => failed.push(what),
      );
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  })();
  return {
    confirmed,
    async stop() {
      isStopped = true;
      await running;
      await database.close();
      return { confirmed, failed };
    },
  };
}

const kept = async (database: Database) =>
  (await database.query<{ what: string }>('select what from kept')).map(({ what }) => what);

let pair: Pair;
const usePair = () => {
  beforeAll(async () => {
    pair = await createPair();
  });
  afterAll(() => pair.close());
};

const rejects = async (url: string) => {
  const database = openDatabase({ url, pool: 1, name: 'late' });
  await expect(database.query('select 1')).rejects.toThrow('the database refuses connections');
  await database.close();
};

describe('a split under load', () => {
  usePair();

  it('a dry run changes nothing, and shows what is to do', async () => {
    expect(await pair.steps('--dry-run')).toEqual(Object.fromEntries(SPLIT_STEPS.map((step) => [step, 'todo'])));
    const stays = await pair.split('--dry-run', '--to', pair.urlOn('old', 'postgres'));
    expect(stays.code).toBe(1);
    expect(stays.stdout).toMatch(/NOT POSSIBLE: --from and --to are the same server/);
    const cell = await pair.split('--to', pair.urls[1] ?? '');
    expect(cell.stderr).toMatch(/--from and --to must name a maintenance database/);
  });

  it('a haproxy that cannot be asked stops it before the fence', async () => {
    const ran = await pair.split('--haproxy', '/nowhere/admin.sock');
    expect(ran.stderr).toMatch(/haproxy cannot be reached over \/nowhere\/admin\.sock/);
    expect(await pair.steps('--dry-run')).toMatchObject({ fence: 'todo' });
    const dry = await pair.split('--haproxy', '/nowhere/admin.sock', '--dry-run');
    expect(dry.stdout).toMatch(/NOT POSSIBLE: haproxy cannot be reached/);
  });

  it('a replica that does not stream stops it before the fence', async () => {
    const [row] = await pair.admin.new.query<{ primary_conninfo: string }>('show primary_conninfo');
    const stream = async (from: string) => {
      await pair.admin.new.query(`alter system set primary_conninfo = '${from}'`);
      await pair.admin.new.query('select pg_reload_conf()');
      await until('the replica follows the setting', async () => {
        const receivers = await pair.admin.new.query(`select from pg_stat_wal_receiver where status = 'streaming'`);
        return receivers.length === (from === '' ? 0 : 1);
      });
    };
    await stream('');
    expect((await pair.split()).stderr).toMatch(/the replica does not stream/);
    expect((await pair.split('--dry-run')).stdout).toMatch(/NOT POSSIBLE: the replica does not stream/);
    await stream(row?.primary_conninfo ?? '');
    expect(await pair.steps('--dry-run')).toMatchObject({ fence: 'todo' });
  });

  it('a fenced cell, also after a command that failed, is opened again by --cancel', async () => {
    expect(await pair.steps('--until', 'fence')).toMatchObject({ fence: 'done', wait: 'todo' });
    await rejects(pair.urls[1] ?? '');
    const ran = await pair.split('--promote-command', 'exit 3');
    expect(ran.stderr).toMatch(
      /a command ended with 3; correct it and run the split again, or go back with --cancel: exit 3/,
    );
    expect(await pair.split('--cancel')).toMatchObject({ code: 0 });
    const database = openDatabase({ url: pair.urls[1] ?? '', pool: 1, name: 'test' });
    expect(await kept(database)).toEqual([]);
    await database.close();
    expect(await pair.steps('--dry-run')).toMatchObject({ fence: 'todo' });
  });

  it('loses nothing that was confirmed, although it is interrupted after every step', async () => {
    const reader = openDatabase({ url: pair.urlOn('new', 'cell_0'), pool: 1, name: 'reader' });
    await kept(reader);
    const [stays, moves] = pair.urls.map((url, cell) => write(url, `cell-${cell}`));
    const misled = write(pair.urlOn('new', 'cell_0'), 'copy');
    await until(
      'both cells are in use',
      () => (stays?.confirmed.length ?? 0) > 20 && (moves?.confirmed.length ?? 0) > 20,
    );
    for (const step of SPLIT_STEPS) {
      const states = await pair.steps('--until', step);
      const place = SPLIT_STEPS.indexOf(step);
      // The replica may have everything before the step that waits for it.
      expect(states[step]).toMatch(step === 'wait' ? /done$/ : /^done$/);
      for (const [at, one] of SPLIT_STEPS.entries()) {
        if (at !== place) expect(states[one], `${one}, until ${step}`).toBe(at < place ? 'was done' : 'todo');
      }
    }
    const before = moves?.confirmed.length ?? 0;
    await until('the moved cell works again', () => (moves?.confirmed.length ?? 0) > before + 10);
    const [staying, moved] = [await stays?.stop(), await moves?.stop()];
    expect(staying?.failed).toEqual([]);
    // A copy must not confirm what is lost with it.
    expect(await misled.stop()).toMatchObject({ confirmed: [] });
    expect(moved?.failed.length).toBeGreaterThan(0);
    const sessions = `select from pg_stat_activity where datname = 'cell_0' and backend_type = 'client backend'`;
    expect(await pair.admin.new.query(sessions)).toEqual([]);
    await reader.close();

    for (const [server, cell, load] of [
      ['old', 0, staying],
      ['new', 1, moved],
    ] as const) {
      const database = openDatabase({ url: pair.urlOn(server, `cell_${cell}`), pool: 1, name: 'test' });
      const found = new Set(await kept(database));
      await database.close();
      expect(load?.confirmed.filter((what) => !found.has(what))).toEqual([]);
    }
  });

  it('afterwards nobody reaches the cell on the old server, or the others on the new one', async () => {
    await rejects(pair.urlOn('old', 'cell_1'));
    await rejects(pair.urlOn('new', 'cell_0'));
  });

  it('done again, it only verifies; there is no way back', async () => {
    expect(await pair.steps()).toEqual({
      ...Object.fromEntries(SPLIT_STEPS.map((step) => [step, 'was done'])),
      verify: 'done',
    });
    const ran = await pair.split('--cancel');
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/go back by a split in the other direction/);
  });
});

describe('the old server dies', () => {
  usePair();

  it('after the replica has everything: the split goes on', async () => {
    await pair.steps('--until', 'wait');
    await pair.stopOld();
    expect(await pair.steps()).toMatchObject({ fence: 'was done', wait: 'was done', open: 'done', verify: 'done' });
    expect((await pair.split('--cancel')).stderr).toMatch(/split in the other direction/);
  });
});

describe('a replica that is promoted too early', () => {
  usePair();

  it('is refused, and the cell can be used on the old server', async () => {
    await pair.steps('--until', 'fence');
    await pair.split('--cancel');
    await pair.admin.new.query('select pg_promote()');
    const ran = await pair.split();
    expect(ran.stderr).toMatch(/no replica any more, and the old server is in use/);
    const database = openDatabase({ url: pair.urls[1] ?? '', pool: 1, name: 'test' });
    await database.query(`insert into kept values ('after')`);
    await database.close();
  });
});
