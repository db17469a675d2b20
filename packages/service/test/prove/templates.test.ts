import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../support/processes.js';

const folder = path.join(packageRoot, '..', '..', 'deploy', 'patroni');
const cluster = readFileSync(path.join(packageRoot, 'prove', 'ha', 'cluster.mjs'), 'utf8');

// Without this test, a missing value would show up only on a machine with Patroni.
it('the proof has a value for every placeholder in the templates of deploy/patroni', () => {
  const templates = readdirSync(folder).filter((file) => file !== 'README.md');
  expect(templates.toSorted()).toEqual(['etcd.conf.yml', 'haproxy.cfg', 'patroni.yml']);
  for (const file of templates) {
    expect(cluster).toContain(`'${file}'`);
    for (const [, name = ''] of readFileSync(path.join(folder, file), 'utf8').matchAll(/\$\{(\w+)\}/g)) {
      const isGiven = new RegExp(`\\b${name}\\b`).test(cluster) || /^PG[123]_(ADDRESS|REST_PORT)$/.test(name);
      expect(isGiven, `${file}: ${name}`).toBe(true);
    }
  }
});

it('deploy/cells/haproxy.cfg has what the proof of cells replaces', () => {
  const text = readFileSync(path.join(folder, '..', 'cells', 'haproxy.cfg'), 'utf8');
  for (const port of [8443, '8180-8181', 8081, 8082, 8091, 8092, 6000, 6001, 5501]) {
    expect(text).toMatch(new RegExp(`127\\.0\\.0\\.1:${port}\\b`));
  }
  for (const part of ['maxconn 20000', 'stats socket ', '/etc/haproxy/cells/app-ids.map', '\ndefaults clusters ']) {
    expect(text).toContain(part);
  }
});
