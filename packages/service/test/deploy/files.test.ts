import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { type AddressInfo, BlockList } from 'node:net';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { SHARED_SOURCES } from '../../../../scripts/prepare.mjs';
import { readCellsFile } from '../../src/platform/cells.js';
import { readSettings } from '../../src/platform/settings.js';
import { perennial } from '../cli/perennial.js';
import { packageRoot } from '../support/processes.js';
import { testService } from '../support/service.js';

const ROOT = path.join(packageRoot, '..', '..');
const FOLDER = path.join(ROOT, 'deploy');
const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$|file$/i.test(name));
const text = (name: string) => readFileSync(path.join(FOLDER, name), 'utf8');
const yaml = (name: string) => parseAllDocuments(text(name), { merge: true });
// biome-ignore lint/suspicious/noExplicitAny: these files have many shapes
const documents = (name: string): any[] => yaml(name).map((document) => document.toJS());

/** Environment variables that the service reads. */
const settings = new Set<string>();
readSettings(
  new Proxy<Record<string, string | undefined>>(
    { MASTER_KEY: Buffer.alloc(32).toString('base64') },
    { get: (of, name) => settings.add(String(name)) && of[String(name)] },
  ),
);

/** Matches upper-case words in the files that are not settings of the service. */
const OTHERS =
  /^(NODE_ENV|POSTGRES_(USER|DB|PASSWORD|SERVICE_PASSWORD|IMAGE)|DAC_OVERRIDE|OWNER_URL|ON_ERROR_STOP|AF_(INET6?|UNIX)|SIG[A-Z]+|METH_POST|HAPROXY_.*)$/;

describe('deploy/', () => {
  it('README.md lists every folder', () => {
    const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const listed = [...text('README.md').matchAll(/^\| \[(\w+)\]\(\1\)/gm)].map(([, name]) => name);
    expect(listed.toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
  });

  // Skips patroni/, whose files are templates that the fail-over proof fills in (test/prove/templates.test.ts).
  it.each(names.filter((name) => !name.startsWith('patroni')))(
    '%s names only variables that the service reads',
    (name) => {
      const found = [...text(name).matchAll(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g)].map(([word]) => word);
      expect(found.filter((word) => !settings.has(word) && !OTHERS.test(word))).toEqual([]);
    },
  );

  it.each(names.filter((name) => /\.ya?ml$/.test(name)))('%s is YAML', (name) => {
    expect(yaml(name).flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    expect(documents(name).every((one) => typeof one === 'object' && one !== null)).toBe(true);
  });
});

/** Applies .dockerignore like Docker: the last line that matches the path or a parent folder wins. */
function isIgnored(place: string): boolean {
  const lines = readFileSync(path.join(ROOT, '.dockerignore'), 'utf8').split('\n');
  let ignored = false;
  for (const line of lines.filter((one) => one !== '' && !one.startsWith('#'))) {
    const glob = line.replace(/^!/, '').replace(/[.+]/g, '\\$&');
    const pattern = glob
      .replace(/^\*\*\//, '(.*/)?')
      .replace(/^\*\*$/, '.*')
      .replace(/(?<![.)])\*/g, '[^/]*');
    if (new RegExp(`^${pattern}(/.*)?$`).test(place)) ignored = !line.startsWith('!');
  }
  return ignored;
}

it('every way to start the service gives short-lived objects the same room, and the bench measures that', () => {
  const commands = [
    readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
    text('docker/Dockerfile'),
    text('systemd/perennial@.service'),
    readFileSync(path.join(ROOT, 'docs/operations.md'), 'utf8'),
    readFileSync(path.join(ROOT, 'packages/service/bench/processes.mjs'), 'utf8'),
  ];
  for (const command of commands)
    expect(command).toMatch(/node.*--max-semi-space-size=64\b|FLAGS = \['--max-semi-space-size=64'\]/);
});

describe('the image', () => {
  const dockerfile = text('docker/Dockerfile');
  const set = (name: string) => new RegExp(`\\b${name}=(\\S+)`).exec(dockerfile)?.[1];

  const copied = [...dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '));

  it('copies only existing files that are not ignored', () => {
    expect(copied.length).toBeGreaterThan(3);
    for (const source of copied) {
      expect(existsSync(path.join(ROOT, source)), source).toBe(true);
      expect(isIgnored(source), source).toBe(false);
    }
  });

  it('gets every file outside the packages that its pages are built from', () => {
    const places = Object.values(SHARED_SOURCES)
      .flatMap((list) => list())
      .map((place) => path.relative(ROOT, place))
      .filter((place) => !/(^|\/)dist\/|\.tsbuildinfo$/.test(place));
    expect(places).toContain('CHANGELOG.md');
    const isCopied = (place: string) => copied.some((source) => place === source || place.startsWith(`${source}/`));
    expect(places.filter((place) => !isCopied(place) || isIgnored(place))).toEqual([]);
  });

  it('gets every source file, and no other files of a working copy', () => {
    const packages = readdirSync(path.join(ROOT, 'packages'));
    const folders = [...packages.map((name) => `${name}/src`), 'service/migrations', 'service/assets', 'service/bin'];
    const sources = folders.flatMap((folder) => {
      const place = `packages/${folder}`;
      const entries = readdirSync(path.join(ROOT, place), { recursive: true, encoding: 'utf8' });
      return entries.map((entry) => `${place}/${entry}`);
    });
    expect(sources).toContain('packages/service/src/platform/db/database.ts');
    expect(sources).toContain('packages/embedded-postgres/src/index.ts');
    expect(sources.filter(isIgnored)).toEqual([]);
    for (const place of [
      'packages/service/.env',
      'deploy/docker/perennial.env',
      'data/master-key',
      '.git/config',
      'docs/request.md',
      'packages/service/data/postgres',
    ]) {
      expect(isIgnored(place), place).toBe(true);
    }
  });

  it('runs built programs as an unprivileged user, and exposes their ports', () => {
    const programs = [...dockerfile.matchAll(/(?:dist|bin)\/[\w/]+\.js/g)].map(([place]) => place);
    expect(programs).toContain('dist/program/main.js');
    for (const place of programs) expect(existsSync(path.join(packageRoot, place)), place).toBe(true);
    // A number, because Kubernetes compares no names with runAsNonRoot.
    expect(/^USER (\d+):\d+$/m.exec(dockerfile)?.[1]).toBe('1000');
    const named = ['PORT', 'CONSOLE_PORT', 'METRICS_PORT'];
    const listeners = readSettings(Object.fromEntries(named.map((name) => [name, set(name)])));
    expect(listeners).toMatchObject({ host: '0.0.0.0', consoleHost: '0.0.0.0', metricsHost: '0.0.0.0' });
    const { port, consolePort, metricsPort } = listeners;
    expect(/^EXPOSE (.+)$/m.exec(dockerfile)?.[1]).toBe(`${port} ${consolePort} ${metricsPort}`);
    expect(dockerfile).toMatch(/^HEALTHCHECK[\s\S]+\/healthz/m);
  });

  it('has settings with which a node of production starts, given the three that are secret or of the place', () => {
    const given = {
      MASTER_KEY: Buffer.alloc(32).toString('base64'),
      DATABASE_URL: 'postgres://x',
      PUBLIC_URL: 'https://x',
    };
    const env = Object.fromEntries([...settings].flatMap((name) => (set(name) ? [[name, set(name)]] : [])));
    expect(readSettings({ ...env, ...given })).toMatchObject({
      environment: 'production',
      port: 8080,
      metricsPort: 9464,
    });
  });
});

describe('compose.yaml', () => {
  const [compose] = documents('docker/compose.yaml');

  it('names the images of others by digest, as the Dockerfile does', () => {
    const byDigest = /^\$\{[A-Z_]+:-[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}\}$/;
    const images = Object.values<{ image: string }>(compose.services).map(({ image }) => image);
    for (const image of images.filter((name) => name !== 'perennial')) expect(image).toMatch(byDigest);
    const base = /^ARG BASE=(.*)$/m.exec(readFileSync(path.join(FOLDER, 'docker/Dockerfile'), 'utf8'))?.[1];
    expect(compose.services.node.build?.args.BASE ?? compose.services.migrate.build.args.BASE).toBe(
      `\${BASE:-${base}}`,
    );
  });

  it('builds and mounts only existing files', () => {
    for (const { build, volumes = [], env_file: envFile } of Object.values<Record<string, never>>(compose.services)) {
      const { context, dockerfile } = (build ?? { context: '.', dockerfile: 'Dockerfile' }) as Record<string, string>;
      expect(existsSync(path.join(FOLDER, 'docker', context ?? '', dockerfile ?? ''))).toBe(true);
      for (const volume of volumes as string[]) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('.')) expect(existsSync(path.join(FOLDER, 'docker', source)), source).toBe(true);
      }
      if (envFile) expect(existsSync(path.join(FOLDER, 'docker', `${envFile}.example`))).toBe(true);
    }
  });

  it('starts again what must run, and a migration that did not reach its database', () => {
    const restarts = Object.entries<{ restart: string }>(compose.services).map(([name, { restart }]) => [
      name,
      restart,
    ]);
    expect(Object.fromEntries(restarts)).toEqual({
      database: 'unless-stopped',
      migrate: expect.stringMatching(/^on-failure/),
      roles: expect.stringMatching(/^on-failure/),
      node: 'unless-stopped',
      proxy: 'unless-stopped',
    });
    expect(compose.services.migrate.depends_on).toEqual({ database: { condition: 'service_healthy' } });
  });

  it('asks the database over TCP, which the server of the image’s first start does not have', () => {
    const { test } = compose.services.database.healthcheck;
    expect(test.slice(0, 4)).toEqual(['CMD', 'pg_isready', '-h', '127.0.0.1']);
  });

  it('reads its keys from files that git leaves out', async () => {
    const keyFiles = ['.env', 'deploy/docker/.env', 'deploy/docker/perennial.env'];
    const ignored = readFileSync(path.join(ROOT, '.gitignore'), 'utf8').split('\n');
    for (const file of keyFiles)
      expect(ignored.includes(file) || ignored.includes(path.basename(file)), file).toBe(true);
  });

  it('gives nodes longer to stop than they drain, and starts them on a migrated schema', () => {
    const { node } = compose.services;
    expect(Number.parseInt(node.stop_grace_period, 10)).toBeGreaterThan(5 + 10);
    const { migrate, roles } = compose.services;
    expect(node.depends_on).toEqual({ roles: { condition: 'service_completed_successfully' } });
    expect(roles.depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } });
    const [owner, service] = [migrate, node].map(({ environment }) => new URL(environment.DATABASE_URL).username);
    expect(roles.command).toEqual(expect.arrayContaining([`--username=${owner}`, `--set=service=${service}`]));
  });

  it('lets nodes believe its proxy and this machine, and no other container', () => {
    const { services, networks } = compose;
    const [{ subnet, gateway, ip_range: range }] = networks.default.ipam.config;
    const proxy = services.proxy.networks.default.ipv4_address;
    const { trustedProxies } = readSettings({ TRUSTED_PROXIES: services.node.environment.TRUSTED_PROXIES });
    expect(trustedProxies).toEqual([proxy, gateway]);
    const addresses = (cidr: string) => {
      const [address = '', prefix = ''] = cidr.split('/');
      const list = new BlockList();
      list.addSubnet(address, Number(prefix));
      return list;
    };
    expect([addresses(subnet).check(proxy), addresses(range).check(proxy)]).toEqual([true, false]);
    expect(addresses(subnet).check(gateway)).toBe(true);
  });
});

describe('kubernetes', () => {
  const manifests = documents('kubernetes/perennial.yaml');
  const of = (kind: string) => manifests.find((one) => one.kind === kind);
  const [container] = of('Deployment').spec.template.spec.containers;

  it('sets, exposes and probes the same ports', () => {
    const { data } = of('ConfigMap');
    const { metricsHost, metricsPort } = readSettings({ METRICS_PORT: data.METRICS_PORT });
    expect(container.ports).toEqual([
      { name: 'http', containerPort: 8080 },
      { name: 'metrics', containerPort: metricsPort },
    ]);
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
    expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'metrics' });
    expect(metricsHost).toBe('0.0.0.0');
  });

  it('waits longer than a node drains, and hears of it in time', () => {
    const drain = Number(of('ConfigMap').data.DRAIN_SECONDS);
    expect(of('Deployment').spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(drain + 10);
    expect(container.readinessProbe.periodSeconds * container.readinessProbe.failureThreshold * 2).toBeLessThan(drain);
  });

  it('does not take one late answer for a node that is gone', () => {
    expect(container.readinessProbe.failureThreshold).toBeGreaterThan(1);
    expect(container.livenessProbe.failureThreshold).toBeGreaterThan(1);
  });

  it('lets the ingress reach the interface, Prometheus the metrics, and nobody else anything', () => {
    const { podSelector, policyTypes, ingress } = of('NetworkPolicy').spec;
    expect(podSelector).toEqual(of('Deployment').spec.selector);
    expect(policyTypes).toEqual(['Ingress']);
    const from = (namespace: string) => [
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
    ];
    expect(ingress).toEqual([
      { ports: [{ port: 'http' }], from: from('ingress-nginx') },
      { ports: [{ port: 'metrics' }], from: from('monitoring') },
    ]);
  });

  it('trusts the forwarding header of one cluster’s pods, not of a whole private range', () => {
    const { trustedProxies } = readSettings({ TRUSTED_PROXIES: of('ConfigMap').data.TRUSTED_PROXIES });
    for (const range of trustedProxies) expect(Number(range.split('/')[1] ?? 32), range).toBeGreaterThanOrEqual(16);
  });

  it('is scraped by the name that the rules know, once', () => {
    const [{ scrape_configs: jobs }] = documents('prometheus/kubernetes.yaml');
    const { metadata } = of('Deployment').spec.template;
    const [label, value] = Object.entries(metadata.labels)[0] ?? [];
    expect(metadata.annotations ?? {}).not.toHaveProperty('prometheus.io/scrape');
    expect(jobs).toMatchObject([
      {
        job_name: 'perennial',
        kubernetes_sd_configs: [{ role: 'pod', selectors: [{ role: 'pod', label: `${label}=${value}` }] }],
      },
    ]);
    const { name } = container.ports.find(({ containerPort }: { containerPort: number }) => containerPort === 9464);
    expect(jobs[0].relabel_configs).toContainEqual({
      source_labels: ['__meta_kubernetes_pod_container_port_name'],
      regex: name,
      action: 'keep',
    });
    expect(text('prometheus/rules.yaml')).toContain('up{job="perennial"}');
  });

  it('runs the command that migrates from the same image', () => {
    const [job] = documents('kubernetes/migrate.yaml');
    const [migrate] = job.spec.template.spec.containers;
    expect(migrate.image).toBe(container.image);
    expect(migrate.command).toEqual(['perennial', 'migrate']);
  });
});

it('the systemd template starts each node only on the port in its name', () => {
  const environment = /^Environment=(.+)$/m.exec(text('systemd/perennial@.service'))?.[1]?.split(' ') ?? [];
  expect(environment).toEqual(expect.arrayContaining(['PORT=%i', 'NODE_ID=%H-%i']));
  const named = [...text('systemd/perennial@.service').matchAll(/perennial@(\d+)/g)].map(([, port]) => port);
  for (const proxy of ['haproxy/haproxy.cfg', 'nginx/perennial.conf']) {
    const ports = [...text(proxy).matchAll(/^ {2}server (?!unready).*127\.0\.0\.1:(\d+)/gm)].map(([, port]) => port);
    expect(ports, proxy).toEqual(named);
  }
});

it('the systemd template reports a node as started only when the node is ready', async () => {
  const asked: number[] = [];
  const server = http.createServer((_request, response) => {
    const status = asked.length < 3 ? 503 : 200;
    asked.push(status);
    response.writeHead(status).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const [, code = ''] = /^ExecStartPost=-\S+ -e "(.+)"$/m.exec(text('systemd/perennial@.service')) ?? [];
  const quick = code.replace('3000', '0').replace('250', '1').replace('%i', String(port));
  const [status] = await once(spawn(process.execPath, ['-e', quick]), 'exit');
  server.close();
  expect(status).toBe(0);
  expect(asked).toEqual([503, 503, 503, 200]);
});

describe('the Debian package', () => {
  const unit = text('systemd/perennial@.service');
  const command = text('debian/perennial');
  const program = text('debian/perennial.js');

  it('has a control file with the fields that dpkg requires, and the versions of Node that the service supports', () => {
    const fields = Object.fromEntries(
      [...text('debian/control').matchAll(/^([\w-]+): (.+)$/gm)].map(([, k, v]) => [k, v]),
    );
    expect(fields).toMatchObject({ Package: 'perennial', Version: '${VERSION}', Architecture: 'all' });
    expect(Object.keys(fields)).toEqual(expect.arrayContaining(['Maintainer', 'Description', 'Installed-Size']));
    const { engines } = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8'));
    const [, oldest = ''] = /\^(\d+\.\d+)/.exec(engines.node) ?? [];
    expect(fields['Depends']).toContain(`nodejs (>= ${oldest})`);
  });

  it('has maintainer scripts that a shell can read', () => {
    for (const name of ['perennial', 'postinst', 'postrm', 'prerm'])
      expect(spawnSync('sh', ['-n', path.join(FOLDER, 'debian', name)]).status, name).toBe(0);
    const [, question = ''] = /^Template: (\S+)$/m.exec(text('debian/templates')) ?? [];
    expect(text('debian/postrm')).toContain(`db_input high ${question}`);
  });

  it('installs the files that the unit and the command read', () => {
    const [conffile = ''] = text('debian/conffiles').split('\n');
    expect(unit).toContain(`EnvironmentFile=${conffile}\n`);
    const folder = path.dirname(conffile);
    expect(command).toContain(`echo "${folder}/$1"`);
    expect(command).toContain(`find_file ${path.basename(conffile)}`);
    expect(unit).toContain(`LoadCredential=master-key:${folder}/master-key\n`);
    const [, started = ''] = /^ExecStart=\/usr\/bin\/node \S+ (\S+)$/m.exec(unit) ?? [];
    expect(existsSync(path.join(packageRoot, started)), started).toBe(true);
    const deb = readFileSync(path.join(ROOT, 'scripts/release/deb.mjs'), 'utf8');
    const [, place = ''] = /^WorkingDirectory=\/(.+)$/m.exec(unit) ?? [];
    expect(deb).toContain(`inTree('${place}')`);
    for (const [, source = ''] of deb.matchAll(/copy\('([^'$]+)'/g))
      expect(existsSync(path.join(FOLDER, source)), source).toBe(true);
  });

  it('gives commands the same settings as nodes', () => {
    const [, environment = ''] = /^Environment=(.+)$/m.exec(unit) ?? [];
    for (const pair of environment.split(' ').filter((one) => !one.includes('%'))) {
      const [name = '', value = ''] = pair.split('=');
      expect(program).toContain(`${name}: '${value}'`);
    }
    const [, user = ''] = /^User=(.+)$/m.exec(unit) ?? [];
    expect(command).toContain(`setpriv --reuid=${user} --regid=${user} --init-groups `);
  });

  it.each([
    ['A=secret#1', 'secret#1'],
    ['A="two words" ', 'two words'],
    ["A='x'", 'x'],
    ['A=a="b"', 'a="b"'],
    ['# A=x', undefined],
  ])('reads %s as systemd does', (line, value) => {
    const [parse = ''] = /^function parse\([\s\S]*?^}$/m.exec(program) ?? [];
    expect(runInNewContext(`${parse} parse(${JSON.stringify(`B=b\n${line}\nC=c\n`)})`)).toMatchObject({
      B: 'b',
      C: 'c',
      ...(value === undefined ? {} : { A: value }),
    });
  });
});

it('the systemd template of bridges starts the bridge in its name', () => {
  const [, program = ''] = /^ExecStart=\S+ (\S+)$/m.exec(text('systemd/perennial-bridge@.service')) ?? [];
  for (const name of ['stripe', 'alipay'])
    expect(existsSync(path.join(ROOT, program.replace('%i', name))), program).toBe(true);
});

it('Prometheus scrapes the nodes behind haproxy', () => {
  const ports = [...text('haproxy/haproxy.cfg').matchAll(/^ {2}server \w+ 127.0.0.1:(\d+)$/gm)].map(([, port]) => port);
  const nodes = ports.map((PORT) => {
    const env = { SVC_ENVIRONMENT: 'production', MASTER_KEY: Buffer.alloc(32).toString('base64'), PORT };
    const { metricsHost, metricsPort } = readSettings(env);
    return `${metricsHost}:${metricsPort}`;
  });
  const [{ scrape_configs: jobs }] = documents('prometheus/prometheus.yaml');
  expect(jobs).toMatchObject([{ job_name: 'perennial', static_configs: [{ targets: nodes }] }]);
  expect(nodes).toHaveLength(3);
});

describe('cells', () => {
  const haproxy = text('cells/haproxy.cfg');
  const readEnv = (name: string) =>
    Object.fromEntries([...text(name).matchAll(/^(\w+)=(.+)$/gm)].map(([, key, value]) => [key, value]));
  const cells = readCellsFile(path.join(FOLDER, 'cells', 'cells.json'));

  it.each([0, 1])('the files of cell %i agree on its ports and addresses', (cell) => {
    const own = { MASTER_KEY: Buffer.alloc(32).toString('base64'), SVC_ENVIRONMENT: 'production' };
    const env = { ...own, ...readEnv('cells/perennial.env'), ...readEnv(`cells/cell-${cell}.env`) };
    const listed = cells.find((one) => one.cell === cell);
    const settings = readSettings({ ...env, CELLS_FILE: path.join(FOLDER, 'cells', 'cells.json') });
    expect(settings).toMatchObject({ cell, databaseUrl: listed?.database, trustedProxies: ['127.0.0.1'] });
    expect(env).toMatchObject({ CONSOLE_URL: listed?.console });
    expect(haproxy).toContain(
      `listen db_cell_${cell} from databases\n  bind ${new URL(listed?.database ?? '').host}\n  server db `,
    );
    expect(listed?.url).toBe(`http://127.0.0.1:${8180 + cell}`);
    expect(haproxy).toContain(
      `use_backend console_${cell} if { req.hdr(host),host_only -i ${new URL(listed?.console ?? '').host} }`,
    );
    const linked = [...text(`cells/cell-${cell}.env`).matchAll(/perennial\/(\d+)\.env/g)].map(([, port]) =>
      Number(port),
    );
    const portsOf = (backend: string) => {
      const [, lines = ''] = new RegExp(`^backend ${backend} from nodes\\n((?:  .+\\n)+)`, 'm').exec(haproxy) ?? [];
      return [...lines.matchAll(/^ {2}server node\d 127\.0\.0\.1:(\d+)/gm)].map(([, port]) => Number(port));
    };
    expect(portsOf(`cell_${cell}`)).toEqual(linked);
    expect(portsOf(`console_${cell}`)).toEqual(
      linked.map((PORT) => readSettings({ ...own, PORT: `${PORT}` }).consolePort),
    );
  });

  it('haproxy’s file has the names that `cell map` and `cell split` use', async () => {
    const readme = text('cells/README.md');
    const [, map] = /map_str\((\S+?)\)/.exec(haproxy) ?? [];
    const [, socket] = /stats socket (\S+)/.exec(haproxy) ?? [];
    expect(readme).toContain(`cell map --output ${map} --haproxy ${socket}`);
    expect(readme).toContain(`--haproxy ${socket}`);
    for (const [, port] of readme.matchAll(/@127\.0\.0\.1:(550\d)\/postgres/g))
      expect(haproxy).toMatch(new RegExp(`^listen server_[ab] from clusters\\n  bind 127\\.0\\.0\\.1:${port}$`, 'm'));
  });

  it('README.md names only files that exist, and commands and options of the program', async () => {
    const readme = text('cells/README.md').replaceAll('\\\n', ' ');
    const commands = [...readme.matchAll(/perennial-cell [0-9N] ([a-z][^`\n]*)/g)].map(([, rest = '']) => rest);
    expect(commands.length).toBeGreaterThan(15);
    for (const command of commands) {
      const words = command.split(/\s+/);
      const noun = words[0] ?? '';
      const name = noun === 'migrate' ? [noun] : words.slice(0, 2);
      const { code, stdout } = await perennial([...name, '--help'], {});
      expect(code, command).toBe(0);
      expect(stdout, command).toContain(`Usage: perennial ${name.join(' ')}`);
      for (const [option] of command.split(/[;|] | -- /)[0]?.matchAll(/(?<=\s)--[a-z-]+/g) ?? [])
        expect(stdout, command).toContain(`${option} `);
    }
    for (const [line] of readme.matchAll(/^ {3}install .+$/gm))
      for (const [file] of line.matchAll(/(?<= )(?:perennial-cell|[\w@/-]*[.]+[\w./@-]+)(?= |$)/g))
        if (!file.startsWith('/')) expect(existsSync(path.join(FOLDER, 'cells', file)), file).toBe(true);
  });
});

describe('proxies', () => {
  const PUBLIC = ['/developers', '/gateway/', '/openapi/', '/redeem'];

  it('forward the public paths, and no monitoring paths', () => {
    for (const name of ['haproxy/haproxy.cfg', 'docker/haproxy.cfg', 'cells/haproxy.cfg']) {
      const [, paths = ''] = /acl public path_beg (.+)/.exec(text(name)) ?? [];
      expect(paths.split(' ').toSorted(), name).toEqual(PUBLIC);
    }
    const nginx = [...text('nginx/perennial.conf').matchAll(/location (\S+) \{ proxy_pass/g)].map(([, place]) => place);
    expect(nginx.toSorted()).toEqual(PUBLIC);
    const [ingress] = documents('kubernetes/perennial.yaml').filter((one) => one.kind === 'Ingress');
    const paths = ingress.spec.rules[0].http.paths.map((one: { path: string }) => one.path);
    expect(paths.toSorted()).toEqual(PUBLIC);
  });

  it('lead to paths that are served, and check one that is', async () => {
    const service = await testService();
    const codeOf = async (method: string, place: string) => {
      const answer = await fetch(service.baseUrl + place, { method, redirect: 'manual' });
      return /"code":"(\d+)"/.exec(await answer.text())?.[1];
    };
    expect(await codeOf('GET', '/openapi/v1/auth/token')).toBe('405001');
    expect(await codeOf('POST', '/gateway/v1/notices/MOCKPAY')).not.toBe('404001');
    expect(await codeOf('GET', '/redeem')).not.toBe('404001');
    expect(await codeOf('GET', '/readyz')).toBe('0');
    expect(await codeOf('GET', '/healthz')).toBe('0');
    await service.close();
  });
});
