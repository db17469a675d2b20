import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../support/processes.js';

/** Each package, and those of the others that it may import. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  wire: [],
  'embedded-postgres': [],
  'bridge-kit': ['wire'],
  'bridge-stripe': ['wire', 'bridge-kit'],
  'bridge-alipay': ['wire', 'bridge-kit'],
  'reference-peers': ['wire', 'bridge-kit'],
  // Published with wire inside it.
  sdk: ['wire'],
  developers: ['wire'],
  service: ['wire', 'embedded-postgres'],
  // Of the service nothing but types, and the one rule of who may do what.
  console: ['wire', 'service'],
};

/**
 * Each room of the house, and the folders in it from the ground up. What a folder imports lies below it, in its own room and in
 * the rooms around it. Files that stand beside folders are at whatever height their imports allow.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
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
  redeem: ['brand', 'texts', 'page'],
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
  ],
  'operator/orders': ['refunds', 'users', 'timeline'],
  'operator/provisioning': ['addresses'],
  console: ['sessions'],
  operations: ['command', 'texts'],
  cli: ['frame', 'commands'],
  'cli/commands': ['books', 'installation', 'bridges'],
  http: ['answers', 'limits', 'long-answers', 'requests', 'pages', 'console', 'developers'],
};

const packages = path.join(packageRoot, '..');
const sourcesOf = (name: string) => path.join(packages, name, 'src');
const wire = sourcesOf('wire');
const service = sourcesOf('service');

/** The files of a folder, and what each of them imports, as it is written there. */
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

/** The npm packages that a package imports, by the names that its dependencies have. */
function packagesUsed(name: string): string[] {
  const outside = [...imported(sourcesOf(name)).values()].flat().filter((one) => !/^(\.|#|node:)/.test(one));
  return [...new Set(outside.map((one) => one.match(/^(?:@[^/]+\/)?[^/]+/)?.[0] ?? one))].toSorted();
}

/** The first circle found, as a path, or nothing. */
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

/** Of each room, what stands in it and which of that imports which. */
function rooms(imports: ReadonlyMap<string, readonly string[]>): Map<string, Map<string, Set<string>>> {
  const found = new Map<string, Map<string, Set<string>>>();
  const importedBy = (room: string, one: string) => {
    const inside = found.get(room) ?? new Map<string, Set<string>>();
    found.set(room, inside);
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
  it('the packages are those that are listed', () => {
    expect(readdirSync(packages).toSorted()).toEqual(Object.keys(PACKAGES).toSorted());
  });

  it.each(Object.keys(PACKAGES))('%s has no circle, and nothing of it lies elsewhere', (name) => {
    const imports = graph(sourcesOf(name));
    expect(circle(imports)).toBeUndefined();
    expect([...imports].flatMap(([, targets]) => targets.filter((target) => !imports.has(target)))).toEqual([]);
  });

  it.each(Object.entries(PACKAGES))('%s imports of the other packages %j at most', (name, allowed) => {
    const ours = packagesUsed(name).filter((one) => one.startsWith('@perennial/'));
    expect(ours.map((one) => one.slice('@perennial/'.length)).filter((one) => !allowed.includes(one))).toEqual([]);
  });

  it.each(Object.keys(PACKAGES))('%s depends on what it imports, and on nothing else', (name) => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(
      readFileSync(path.join(packages, name, 'package.json'), 'utf8'),
    );
    // Theirs are built into their files: who runs those needs none of them.
    const depended = ['console', 'sdk', 'developers'].includes(name) ? devDependencies : dependencies;
    const imported = Object.keys(depended).filter((one) => !one.startsWith('@types/'));
    expect(imported.toSorted()).toEqual(packagesUsed(name));
  });

  it('the rooms of the service are those that are listed, with all their folders', () => {
    const folders = [...rooms(graph(service))].map(([room, inside]) => [
      room,
      [...inside.keys()].filter((one) => !one.endsWith('.ts')).toSorted(),
    ]);
    const listed = Object.entries(ROOMS).map(([room, inside]) => [room, inside.toSorted()]);
    expect(Object.fromEntries(folders.filter(([, inside]) => inside?.length !== 0))).toEqual(
      Object.fromEntries(listed),
    );
  });

  it('no folder imports from one above it', () => {
    const wrong = [...rooms(graph(service))].flatMap(([room, inside]) => {
      const height = (one: string) => ROOMS[room]?.indexOf(one) ?? -1;
      return [...inside].flatMap(([one, targets]) =>
        [...targets]
          .filter((target) => height(one) >= 0 && height(target) > height(one))
          .map((target) => `${room}: ${one} -> ${target}`),
      );
    });
    expect(wrong).toEqual([]);
  });

  it('nothing in a room imports itself by way of another, be it a file or a folder', () => {
    const circles = [...rooms(graph(service))].flatMap(([room, inside]) => {
      const found = circle(new Map([...inside].map(([one, targets]) => [one, [...targets]])));
      return found ? [`${room}: ${found.join(' -> ')}`] : [];
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
    // What a child logger is bound to passes by the redaction.
    ['a child logger', /\blog\.child\(/, []],
    // Only what was made visible reaches a terminal: by the one way of printing, in lines that the two makers of lines made.
    [
      'text that counts as visible',
      /new SafeText\(/,
      ['service: operations/command/safe-text.ts', 'service: operations/command/table.ts'],
    ],
    [
      'writing to a terminal',
      /process\.(stdout|stderr)\b|\bconsole\.\w/,
      ['reference-peers: program.ts', 'sdk: cli/main.ts', 'service: cli/main.ts', 'service: main.ts'],
    ],
  ])('%s stands in its own files alone', (_what, pattern, allowed) => {
    const files = Object.keys(PACKAGES).flatMap((name) =>
      [...imported(sourcesOf(name)).keys()]
        .filter((file) => pattern.test(readFileSync(path.join(sourcesOf(name), file), 'utf8')))
        .map((file) => `${name}: ${file}`),
    );
    expect(files.toSorted()).toEqual(allowed);
  });
});
