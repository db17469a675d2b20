import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { end } from './service.mjs';

/** As often as a picture of a minute or two needs. */
const SCRAPE_SECONDS = 2;
const RATE_INTERVAL = '20s';

export async function startPrometheus({ folder, target }) {
  const config = path.join(folder, 'prometheus.yaml');
  await writeFile(
    config,
    `global: { scrape_interval: ${SCRAPE_SECONDS}s }
scrape_configs: [{ job_name: perennial, static_configs: [{ targets: ['${target}'], labels: { instance: node-1 } }] }]
`,
  );
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${path.join(folder, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: 'ignore' },
  );
  const ask = async (endpoint, parameters) => {
    const response = await fetch(`http://127.0.0.1:${port}${endpoint}?${new URLSearchParams(parameters)}`);
    const { status, data, error } = await response.json();
    if (status !== 'success') throw new Error(`Prometheus: ${error}`);
    return data.result;
  };
  while (
    !(await fetch(`http://127.0.0.1:${port}/-/ready`)
      .then(({ ok }) => ok)
      .catch(() => false))
  ) {
    if (child.exitCode !== null) throw new Error('Prometheus does not start');
    await delay(200);
  }
  return {
    stop: () => end(child),
    /** What the panel would show, as Grafana would ask for it. */
    async seriesOf({ targets = [] }, from, until) {
      const series = [];
      for (const { expr, legendFormat } of targets) {
        const query = expr.replaceAll('$__rate_interval', RATE_INTERVAL);
        const found = await ask('/api/v1/query_range', { query, start: from, end: until, step: SCRAPE_SECONDS });
        for (const { metric, values } of found) {
          const name = legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? '');
          series.push({
            name,
            points: values.map(([at, value]) => [at, Number(value)]).filter(([, v]) => !Number.isNaN(v)),
          });
        }
      }
      return series.filter(({ points }) => points.length > 0);
    },
  };
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
