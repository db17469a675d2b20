import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../support/processes.js';

/**
 * Each room of the house, and the folders in it from the ground up. What a folder imports lies below it, in its own room and in
 * the rooms around it. Files that stand beside folders are at whatever height their imports allow.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  '': [
    'platform',
    'catalog',
    'gateways',
    'fulfilment',
    'subscriptions',
    'settlement',
    'delivery',
    'reconciliation',
    'reference-peers',
    'redeem',
    'api',
    'engine',
    'operator',
    'cli',
    'http',
  ],
  platform: [
    'answers',
    'metrics',
    'csv',
    'embedded-postgres',
    'db',
    'idempotency',
    'lists',
    'log',
    'schema',
    'secrets',
    'alerts',
    'installation',
    'copies',
  ],
  'platform/db': ['sharing'],
  catalog: ['channels', 'payment-channels', 'products'],
  gateways: ['bridge', 'sandbox'],
  subscriptions: ['domain', 'store', 'steps'],
  'subscriptions/domain': ['agreements', 'orders', 'benefits', 'payments'],
  'subscriptions/store': ['agreements', 'benefits', 'events', 'users', 'payments', 'orders'],
  'subscriptions/steps': ['agreements', 'benefits', 'ending', 'payments', 'orders'],
  delivery: ['history', 'queue', 'receivers', 'transport', 'dispatcher'],
  'reference-peers': ['institution', 'supplier'],
  redeem: ['texts', 'page'],
  engine: ['housekeeping', 'metrics', 'jobs', 'recovery'],
  operator: ['copies', 'orders', 'provisioning', 'books'],
  cli: ['frame', 'nouns'],
  http: ['answers', 'limits', 'long-answers', 'requests', 'pages'],
};

const wire = path.join(packageRoot, '..', 'wire', 'src');
const service = path.join(packageRoot, 'src');

function graph(root: string): Map<string, string[]> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return new Map(
    files.map((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      const relative = [...text.matchAll(/\b(?:from|import\()\s*'(\.[^']+)'/g)].map((match) =>
        path.normalize(path.join(path.dirname(file), (match[1] ?? '').replace(/\.js$/, '.ts'))),
      );
      return [file, relative];
    }),
  );
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
  it('the reader sees what is there', () => {
    expect(graph(service).get('main.ts')).toContain('service.ts');
    expect(
      circle(
        new Map([
          ['a', ['b']],
          ['b', ['c']],
          ['c', ['a']],
        ]),
      ),
    ).toEqual(['a', 'b', 'c', 'a']);
  });

  it.each([
    ['wire', wire],
    ['service', service],
  ])('%s has no circle', (_name, root) => {
    expect(circle(graph(root))).toBeUndefined();
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
    const isAction = (file: string) => file.startsWith('api/');
    const wrong = [...graph(service)].flatMap(([file, imports]) =>
      imports.filter((target) => isAction(file) && isAction(target)).map((target) => `${file} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('wire imports nothing of Node outside its platform folder', () => {
    const files = readdirSync(wire, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const wrong = files.filter(
      (file) =>
        !file.startsWith('platform') && /from '(node:|@perennial)/.test(readFileSync(path.join(wire, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  it.each([
    ['Date.now or new Date()', /Date\.now\(|new Date\(\)/, ['platform/clock.ts']],
    ['process.env', /process\.env/, ['platform/settings.ts']],
    // What a child logger is bound to passes by the redaction.
    ['a child logger', /\blog\.child\(/, []],
    // Only what was made visible reaches a terminal: by the one way of printing, in lines that the two makers of lines made.
    ['text that counts as visible', /new Shown\(/, ['cli/frame/shown.ts', 'cli/frame/table.ts']],
    [
      'writing to a terminal',
      /process\.(stdout|stderr)\b|\bconsole\./,
      ['cli/frame/reference-program.ts', 'cli/main.ts', 'main.ts'],
    ],
  ])('%s stands in its own files alone', (_what, pattern, allowed) => {
    const files = [...graph(service).keys()].filter((file) =>
      pattern.test(readFileSync(path.join(service, file), 'utf8')),
    );
    expect(files.toSorted()).toEqual(allowed);
  });
});
