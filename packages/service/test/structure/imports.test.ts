import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../support/processes.js';

/**
 * Imports run one way. Each layer may use those before it and itself; a file belongs to the first layer whose
 * pattern it matches.
 */
const LAYERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  [
    'ground',
    /^(clock|plain-error|settings|log|repeated-lines|pretty-lines|tracing|version|answer|serialize|caller|turns|visible|stop-signals)\.ts$|^metrics\/(counts|business)\.ts$|^db\/(database|queryable|gather|failures|session|sequences|address|watch|statement-spans)\.ts$|^db\/embedded\/|^secrets\//,
  ],
  ['database', /^db\//],
  ['gateways', /^gateways\/|^(institution|supplier)\//],
  // What the tables say: SQL, states as rows of data, and what follows from rows without asking anybody.
  [
    'rows',
    new RegExp(
      [
        'sql\\.ts$',
        '^(idempotency|lists)/',
        '^channels/(channel|credentials|field-failures|registry|access-token|sealing|public-address)\\.ts$',
        '^products/catalog\\.ts$',
        '^(orders|payments|agreements)/states\\.ts$',
        '^orders/(numbers|calendar|order|description|redeem|reference|text|advance-journey)\\.ts$',
        '^agreements/(card|plaintext|payment-channel|shared|institution|numbers|replace-text)\\.ts$',
        '^users/',
        '^(payments|benefits)/policy\\.ts$',
        '^events/',
        '^webhooks/(event-id|time-range|schedule)\\.ts$',
        '^payments/(deadline|refund-numbers)\\.ts$',
        '^benefits/claim-(numbers|code)\\.ts$',
        '^fulfilment/(fulfilment|policy)\\.ts$',
      ].join('|'),
    ),
  ],
  ['action', /^action\.ts$/],
  // What several actions have in common: settle, emit, issue, store, end.
  [
    'steps',
    /^(alerts|benefits|fulfilment)\/|^reconciliation\/|^settlement\/|^payments\/(outcome|settle|settle-together|debit|notice|refund|settle-refund)\.ts$|^webhooks\/(?!list|replay)|^orders\/(store|end|end-agreements|new-order|read-order|create-deduct|agreement-ended|advance-periods)\.ts$|^agreements\/(for-order|sms-limit|same-card|foreign-number)\.ts$/,
  ],
  // One per endpoint. An action never imports an action.
  ['endpoints', /^(channels|products|payment-channels|agreements|orders|payments|webhooks)\//],
  // What users see: pages, and the steps that their forms take.
  ['pages', /^redeem\//],
  ['outside', /^(http|engine|operator)\//],
  ['command line', /^cli\//],
  ['service', /^(interface|service)\.ts$/],
  ['main', /^main\.ts$/],
];

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

const layerOf = (file: string) => LAYERS.findIndex(([, pattern]) => pattern.test(file));

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

  it('every file of the service belongs to a layer', () => {
    expect([...graph(service).keys()].filter((file) => layerOf(file) < 0)).toEqual([]);
  });

  it('no file imports from a later layer', () => {
    const wrong = [...graph(service)].flatMap(([file, imports]) =>
      imports.filter((target) => layerOf(target) > layerOf(file)).map((target) => `${file} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('no action imports another action', () => {
    const actions = LAYERS.findIndex(([name]) => name === 'endpoints');
    const wrong = [...graph(service)].flatMap(([file, imports]) =>
      imports
        .filter((target) => layerOf(file) === actions && layerOf(target) === actions)
        .map((target) => `${file} -> ${target}`),
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
    ['Date.now or new Date()', /Date\.now\(|new Date\(\)/, ['clock.ts']],
    ['process.env', /process\.env/, ['settings.ts']],
    // What a child logger is bound to passes by the redaction.
    ['a child logger', /\blog\.child\(/, []],
    // Only what was made visible reaches a terminal: by the one way of printing, in lines that the two makers of lines made.
    ['text that counts as visible', /new Shown\(/, ['cli/shown.ts', 'cli/table.ts']],
    [
      'writing to a terminal',
      /process\.(stdout|stderr)\b|\bconsole\./,
      ['cli/main.ts', 'cli/reference-program.ts', 'main.ts'],
    ],
  ])('%s stands in its own files alone', (_what, pattern, allowed) => {
    const files = [...graph(service).keys()].filter((file) =>
      pattern.test(readFileSync(path.join(service, file), 'utf8')),
    );
    expect(files.toSorted()).toEqual(allowed);
  });
});
