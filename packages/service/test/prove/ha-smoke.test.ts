import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { packageRoot, start } from '../support/processes.js';

/** A create whose node was killed is finished 30 s later; nearly always there is none. */
const LIMIT_MS = 180_000;

let fresh: FreshDatabase;
beforeEach(async () => {
  fresh = await freshDatabase();
});
afterEach(() => fresh.close());

/** Patroni is on few machines; without it, everything else of the proof runs here. */
it.runIf(process.platform === 'linux')(
  'npm run prove -- ha --smoke finds nothing lost, doubled or wrong',
  async () => {
    const running = start(path.join(packageRoot, 'prove', 'ha.mjs'), {}, ['--smoke', '--database', fresh.url]);
    expect({ code: await running.exited, stderr: running.stderr(), stdout: running.stdout() }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Nothing was lost, doubled or wrong, and nobody saw 500001.'),
    });
    const [row = ''] = running.stdout().match(/^\| kill -9 .*$/m) ?? [];
    const [, requests, acknowledged] = row.split('|').slice(1).map(Number);
    expect(requests).toBeGreaterThan(10);
    expect(acknowledged).toBeGreaterThan(10);
  },
  LIMIT_MS,
);
