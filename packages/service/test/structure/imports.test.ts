import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../support/processes.js';

/** Packages, each with the packages that it may import. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  wire: [],
  'embedded-postgres': [],
  'bridge-kit': ['wire'],
  'bridge-stripe': ['wire', 'bridge-kit'],
  'bridge-alipay': ['wire', 'bridge-kit'],
  'reference-peers': ['wire', 'bridge-kit'],
  // The published SDK contains wire.
  sdk: ['wire'],
  developers: ['wire'],
  service: ['wire', 'embedded-postgres'],
  // Imports only types and the table of permissions from the service.
  console: ['wire', 'service'],
};

/**
 * The layers of each folder, the lowest first. A folder may import only from the folders before it in its list, and the
 * same is true of each of its parent folders. Files beside folders belong to no layer.
 */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  '': [
    'platform',
    'alerts',
    'catalog',
    'gateways',
    'bridge-check',
    'fulfilment',
    'subscriptions',
    'settlement',
    'delivery',
    'reconciliation',
    'figures',
    'redeem',
    'api',
    'operator',
    'engine',
    'console',
    'operations',
    'cli',
    'http',
  ],
  platform: [
    'settings',
    'answers',
    'csv',
    'db',
    'http-client',
    'idempotency',
    'lists',
    'log',
    'pictures',
    'schema',
    'secrets',
    'installation',
  ],
  'platform/db': ['sharing'],
  catalog: ['channels', 'payment-channels', 'products'],
  gateways: ['bridge', 'sandbox'],
  'bridge-check': ['exchange', 'trials'],
  subscriptions: ['domain', 'store', 'steps'],
  'subscriptions/domain': ['agreements', 'payments', 'orders', 'benefits'],
  'subscriptions/store': ['agreements', 'benefits', 'events', 'users', 'payments', 'orders'],
  'subscriptions/steps': ['users', 'agreements', 'benefits', 'ending', 'payments', 'orders'],
  api: ['creation'],
  delivery: ['history', 'queue', 'receivers', 'transport', 'dispatcher'],
  redeem: ['store', 'brand', 'texts', 'page'],
  'redeem/page': ['parts'],
  engine: ['housekeeping', 'metrics', 'jobs', 'recovery'],
  operator: [
    'audit',
    'people',
    'schemas',
    'copies',
    'provisioning',
    'events',
    'orders',
    'approvals',
    'payments',
    'bulk',
    'books',
    'overview',
    'search',
    'cells',
  ],
  'operator/orders': ['refunds', 'users', 'timeline'],
  'operator/provisioning': ['addresses'],
  console: ['sessions'],
  operations: ['command', 'texts'],
  cli: ['frame', 'commands'],
  'cli/commands': ['books', 'installation', 'bridges', 'cells'],
  http: ['answers', 'limits', 'long-answers', 'requests', 'pages', 'console', 'developers'],
};

const packages = path.join(packageRoot, '..');
const sourcesOf = (name: string) => path.join(packages, name, 'src');
const wire = sourcesOf('wire');
const service = sourcesOf('service');

/** Returns the import specifiers of each file below a folder. */
function imported(root: string): Map<string, string[]> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
  return new Map(
    files.map((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      const found = text.matchAll(/(?:^(?:import|export)\s[^;']*?\bfrom|\bimport\()\s*'([^']+)'/gm);
      return [file, [...found].map(([, name = '']) => name)];
    }),
  );
}

function graph(root: string): Map<string, string[]> {
  return new Map(
    [...imported(root)].map(([file, names]) => {
      const relative = names.filter((name) => name.startsWith('.') && !name.endsWith('.css'));
      return [file, relative.map((name) => path.join(path.dirname(file), name.replace(/\.js$/, '.ts')))];
    }),
  );
}

/** Returns the npm packages that a package imports. */
function packagesUsed(name: string): string[] {
  const outside = [...imported(sourcesOf(name)).values()].flat().filter((one) => !/^(\.|#|node:)/.test(one));
  return [...new Set(outside.map((one) => one.match(/^(?:@[^/]+\/)?[^/]+/)?.[0] ?? one))].toSorted();
}

/** Returns the first import cycle as a path, undefined if there is none. */
function circle(imports: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const finished = new Set<string>();
  const visit = (file: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (finished.has(file)) return undefined;
    for (const next of imports.get(file) ?? []) {
      const found = visit(next, [...trail, file]);
      if (found) return found;
    }
    finished.add(file);
    return undefined;
  };
  for (const file of imports.keys()) {
    const found = visit(file, []);
    if (found) return found;
  }
  return undefined;
}

/** Returns for each folder its files and subfolders, each with the siblings that it imports. */
function layersOf(imports: ReadonlyMap<string, readonly string[]>): Map<string, Map<string, Set<string>>> {
  const found = new Map<string, Map<string, Set<string>>>();
  const importedBy = (folder: string, one: string) => {
    const inside = found.get(folder) ?? new Map<string, Set<string>>();
    found.set(folder, inside);
    const known = inside.get(one) ?? new Set<string>();
    inside.set(one, known);
    return known;
  };
  for (const [file, targets] of imports) {
    const parts = file.split('/');
    for (const [depth, part] of parts.entries()) importedBy(parts.slice(0, depth).join('/'), part);
    for (const target of targets) {
      const others = target.split('/');
      const apart = parts.findIndex((part, depth) => part !== others[depth]);
      if (apart >= 0) importedBy(parts.slice(0, apart).join('/'), parts[apart] ?? '').add(others[apart] ?? '');
    }
  }
  return found;
}

describe('imports', () => {
  it('PACKAGES lists all packages', () => {
    expect(readdirSync(packages).toSorted()).toEqual(Object.keys(PACKAGES).toSorted());
  });

  it.each(Object.keys(PACKAGES))('%s has no import cycle, and its relative imports stay inside the package', (name) => {
    const imports = graph(sourcesOf(name));
    expect(circle(imports)).toBeUndefined();
    expect([...imports].flatMap(([, targets]) => targets.filter((target) => !imports.has(target)))).toEqual([]);
  });

  it.each(Object.entries(PACKAGES))('%s imports no packages of ours except %j', (name, allowed) => {
    const ours = packagesUsed(name).filter((one) => one.startsWith('@perennial/'));
    expect(ours.map((one) => one.slice('@perennial/'.length)).filter((one) => !allowed.includes(one))).toEqual([]);
  });

  it.each(Object.keys(PACKAGES))('%s has exactly the dependencies that it imports', (name) => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(
      readFileSync(path.join(packages, name, 'package.json'), 'utf8'),
    );
    // These packages contain their dependencies, so that users do not install them.
    const depended = ['console', 'sdk', 'developers'].includes(name) ? devDependencies : dependencies;
    const imported = Object.keys(depended).filter((one) => !one.startsWith('@types/'));
    expect(imported.toSorted()).toEqual(packagesUsed(name));
  });

  it('LAYERS lists all folders of the service', () => {
    const folders = [...layersOf(graph(service))].map(([folder, inside]) => [
      folder,
      [...inside.keys()].filter((one) => !one.endsWith('.ts')).toSorted(),
    ]);
    const listed = Object.entries(LAYERS).map(([folder, inside]) => [folder, inside.toSorted()]);
    expect(Object.fromEntries(folders.filter(([, inside]) => inside?.length !== 0))).toEqual(
      Object.fromEntries(listed),
    );
  });

  it('no folder imports from a higher layer', () => {
    const wrong = [...layersOf(graph(service))].flatMap(([folder, inside]) => {
      const height = (one: string) => LAYERS[folder]?.indexOf(one) ?? -1;
      return [...inside].flatMap(([one, targets]) =>
        [...targets]
          .filter((target) => height(one) >= 0 && height(target) > height(one))
          .map((target) => `${folder}: ${one} -> ${target}`),
      );
    });
    expect(wrong).toEqual([]);
  });

  it('files and folders of one folder form no import cycle', () => {
    const circles = [...layersOf(graph(service))].flatMap(([folder, inside]) => {
      const found = circle(new Map([...inside].map(([one, targets]) => [one, [...targets]])));
      return found ? [`${folder}: ${found.join(' -> ')}`] : [];
    });
    expect(circles).toEqual([]);
  });

  it('no action imports another action', () => {
    const isAction = (file: string) => /^api\/(?!api-deps)[^/]+$/.test(file);
    const wrong = [...graph(service)].flatMap(([file, imports]) =>
      imports.filter((target) => isAction(file) && isAction(target)).map((target) => `${file} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('wire uses nothing of Node outside its platform folder', () => {
    const wrong = [...imported(wire).keys()].filter(
      (file) =>
        !file.startsWith('platform/') &&
        /from 'node:|\b(?:Buffer|process)\./.test(readFileSync(path.join(wire, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  it.each([
    [
      'Date.now or new Date()',
      /Date\.now\(|new Date\(\)/,
      [
        'bridge-kit: clock.ts',
        'console: clock.ts',
        'reference-peers: program.ts',
        'sdk: clock.ts',
        'service: platform/clock.ts',
      ],
    ],
    ['process.env', /process\.env/, ['bridge-kit: settings.ts', 'sdk: cli/main.ts', 'service: platform/settings.ts']],
    // Forbidden, because the bindings of a child logger bypass the redaction.
    ['a child logger', /\blog\.child\(/, []],
    // Only escaped text may be printed to a terminal, and only these two files create such text.
    [
      'text that counts as visible',
      /new SafeText\(/,
      ['service: operations/command/safe-text.ts', 'service: operations/command/table.ts'],
    ],
    [
      'writing to a terminal',
      /process\.(stdout|stderr)\b|\bconsole\.\w/,
      ['reference-peers: program.ts', 'sdk: cli/main.ts', 'sdk: client.ts', 'service: cli/main.ts', 'service: main.ts'],
    ],
  ])('%s occurs only in the listed files', (_what, pattern, allowed) => {
    const files = Object.keys(PACKAGES).flatMap((name) =>
      [...imported(sourcesOf(name)).keys()]
        .filter((file) => pattern.test(readFileSync(path.join(sourcesOf(name), file), 'utf8')))
        .map((file) => `${name}: ${file}`),
    );
    expect(files.toSorted()).toEqual(allowed);
  });
});
