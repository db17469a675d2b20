// The picture of the dashboard in docs/operations.md: a real service under some load, a real Prometheus that scrapes it, and
// every panel of deploy/grafana/perennial.json asked for and drawn.
//
//   npm run build && node scripts/dashboard/main.mjs [seconds]
//
// Needs prometheus and Chromium on this machine. Everything listens on 127.0.0.1 and is gone afterwards.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawPicture } from './picture.mjs';
import { startPrometheus } from './prometheus.mjs';
import { startService } from './service.mjs';
import { makeTraffic } from './traffic.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const seconds = Number(process.argv[2] ?? 90);
/** Until rates are what they will be. */
const WARM_UP_SECONDS = 25;
const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-dashboard-'));
const ends = [() => rm(folder, { recursive: true, force: true })];
try {
  const service = await startService({ root, dataDir: path.join(folder, 'data') });
  ends.push(service.stop);
  const prometheus = await startPrometheus({ folder, target: new URL(service.baseUrl).host });
  ends.push(prometheus.stop);
  const until = Date.now() / 1000 + seconds;
  const from = until - seconds + WARM_UP_SECONDS;
  await makeTraffic({ root, service, until });
  const { panels } = JSON.parse(await readFile(path.join(root, 'deploy/grafana/perennial.json'), 'utf8'));
  const file = path.join(root, 'docs/images/dashboard.png');
  const answered = await Promise.all(
    panels.map(async (panel) => ({ ...panel, series: await prometheus.seriesOf(panel, from, until) })),
  );
  await drawPicture(answered, { from, until, file });
  const empty = answered.filter(({ type, series }) => type !== 'row' && series.length === 0).map(({ title }) => title);
  process.stdout.write(`${file}\nwithout data: ${empty.join(', ') || 'none'}\n`);
} finally {
  for (const end of ends.reverse()) await end();
}
