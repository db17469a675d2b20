import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { seenNode } from '../metrics/world.js';
import { ofFile } from '../orders/stage-of-file.js';
import { labelsOf, type Metric } from '../support/scrape.js';
import { ROOT, readPage, rowsUnder } from './pages.js';

interface Expression {
  readonly where: string;
  readonly expr: string;
  /** The text shown with the expression: the summary of the alert, or the legend of the series. */
  readonly shown: string;
}

const rules = await readPage('deploy/prometheus/rules.yaml');
const dashboard: { panels: Panel[] } = JSON.parse(await readPage('deploy/grafana/perennial.json'));
interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

/** The expressions of the alert rules. An expression is the rest of its line, or the block below it. */
const ruleExpressions: Expression[] = rules
  .split(/^ +- alert: /m)
  .slice(1)
  .map((rule) => ({
    where: rule.split('\n')[0] ?? '',
    expr: /^ +expr: (?:\|\n((?: {10,}.*\n)+)|(.*))/m.exec(rule)?.slice(1).filter(Boolean)[0] ?? '',
    shown: /summary: (.*)/.exec(rule)?.[1] ?? '',
  }));
const panelExpressions: Expression[] = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ where: title, expr, shown: legendFormat })),
);

const KEYWORDS = new Set(['by', 'le', 'job', 'instance']);

/** Returns the metrics of an expression, each with the labels in its selector. */
function asked(expr: string): { name: string; labels: string[] }[] {
  return [...expr.matchAll(/\b(perennial_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  }));
}

/** Returns the labels that an expression groups by or shows. */
function grouped({ expr, shown }: Expression): string[] {
  const by = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((one) => one.trim()),
  );
  const legend = [...shown.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label);
  return [...by, ...legend];
}

const node = ofFile(seenNode);
let metrics: Map<string, Metric>;
beforeAll(async () => {
  metrics = await node.scrape();
});

describe.each([
  ['deploy/prometheus/rules.yaml', ruleExpressions],
  ['deploy/grafana/perennial.json', panelExpressions],
])('%s', (_file, expressions) => {
  const metricOf = (name: string) => metrics.get(name) ?? metrics.get(name.replace(/_(bucket|sum|count)$/, ''));

  it('uses only existing metrics and labels', () => {
    expect(expressions.length).toBeGreaterThan(10);
    for (const one of expressions) {
      expect(one.expr, one.where).not.toBe('');
      const names = asked(one.expr);
      for (const { name, labels } of names) {
        expect(metricOf(name), `${one.where}: ${name}`).toBeDefined();
        for (const label of labels) {
          if (!KEYWORDS.has(label)) expect(labelsOf(metricOf(name)), `${one.where}: ${name}`).toContain(label);
        }
      }
      const known = new Set([...KEYWORDS, ...names.flatMap(({ name }) => labelsOf(metricOf(name)))]);
      expect(
        grouped(one).filter((label) => !known.has(label)),
        one.where,
      ).toEqual([]);
    }
  });

  it('uses only possible values of the label outcome', () => {
    for (const { where, expr } of expressions) {
      for (const [, name = '', value = ''] of expr.matchAll(/\b(perennial_\w+)\{[^}]*\boutcome=~?"([^"]*)"/g)) {
        const outcomes = metricOf(name)?.samples.map(({ labels }) => labels['outcome']);
        for (const outcome of value.split('|')) expect(outcomes, where).toContain(outcome);
      }
    }
  });
});

describe('rules and dashboard', () => {
  it('describe every panel and every rule', () => {
    expect(new Set(panelExpressions.map(({ where }) => where)).size).toBe(
      dashboard.panels.filter(({ type }) => type !== 'row').length,
    );
    for (const { where, shown } of [...ruleExpressions, ...panelExpressions]) expect(shown, where).not.toBe('');
  });

  it('use every business metric', () => {
    const listed = rows.map(({ name }) => name).filter((name) => name.startsWith('perennial_'));
    const used = new Set(
      [...ruleExpressions, ...panelExpressions].flatMap(({ expr }) => asked(expr)).map(({ name }) => name),
    );
    const unused = listed.filter((name) => !used.has(name) && !used.has(`${name}_bucket`));
    // Alerts and panels do not use these metrics of a node's internals, which are for the diagnosis of a slow node.
    expect(unused).toEqual([
      'perennial_http_answers_cut_total',
      'perennial_long_answers',
      'perennial_admission_batch_size',
      'perennial_requests_inside',
      'perennial_connections',
      'perennial_connections_dropped_total',
    ]);
  });

  it('alert if a node is down, and if Prometheus has no targets', () => {
    const exprs = ruleExpressions.map(({ expr }) => expr);
    expect(exprs).toContain('up{job="perennial"} == 0');
    expect(exprs).toContain('absent(up{job="perennial"})');
  });

  it('pass promtool, if it is installed', () => {
    for (const args of [
      ['rules', 'rules.yaml'],
      ['config', 'prometheus.yaml'],
    ]) {
      const [what = '', file = ''] = args;
      const checked = spawnSync('promtool', ['check', what, path.join(ROOT, 'deploy/prometheus', file)], {
        encoding: 'utf8',
      });
      if (checked.error === undefined) expect(checked.status, checked.stdout + checked.stderr).toBe(0);
      else expect(checked.error).toMatchObject({ code: 'ENOENT' });
    }
  });
});

const rows = rowsUnder(await readPage('docs/monitoring.md'), '## Metrics').map(
  ([name = '', type = '', labels = '', meaning = '']) => {
    // `rowsUnder` removes the backquotes of a cell that is one code span.
    const [names = '', values] = labels.replace(/^\w+$/, '`$&`').split(': ');
    return {
      name,
      type,
      labels: codeSpans(names),
      values: values === undefined ? undefined : codeSpans(values),
      meaning,
    };
  },
);

function codeSpans(text: string): string[] {
  return [...text.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name);
}

describe('docs/monitoring.md, Metrics', () => {
  const own = () => [...metrics].filter(([name]) => name.startsWith('perennial_'));

  it('lists exactly the metrics of the service, with their types', () => {
    const listed = rows.filter(({ name }) => name.startsWith('perennial_')).map(({ name, type }) => `${name} ${type}`);
    expect(listed.toSorted()).toEqual(
      own()
        .map(([name, { type }]) => `${name} ${type}`)
        .toSorted(),
    );
    for (const { name, meaning } of rows) expect(meaning, name).not.toBe('');
  });

  it('names exactly the labels of each metric', () => {
    for (const { name, labels } of rows.filter((row) => row.name.startsWith('perennial_'))) {
      expect(labels.toSorted(), name).toEqual(labelsOf(metrics.get(name)));
    }
  });

  it('lists exactly the values of the last label, if it lists any', () => {
    const listed = rows.filter(({ values }) => values !== undefined);
    expect(listed.length).toBeGreaterThan(5);
    for (const { name, labels, values = [] } of listed) {
      const shown = new Set(metrics.get(name)?.samples.map((sample) => sample.labels[labels.at(-1) ?? '']));
      expect([...shown].toSorted(), name).toEqual(values.toSorted());
    }
  });

  it('names the prefix of every other metric', () => {
    const kinds = rows.filter(({ name }) => name.includes('*')).flatMap(({ name }) => name.match(/\w+_(?=\*)/g) ?? []);
    const others = [...metrics.keys()].filter((name) => !name.startsWith('perennial_'));
    expect(others.length).toBeGreaterThan(10);
    expect(others.filter((name) => !kinds.some((kind) => name.startsWith(kind)))).toEqual([]);
  });
});
