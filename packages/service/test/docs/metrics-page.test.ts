import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SeenNode, seenNode } from '../metrics/world.js';
import { labelsOf, type Metric } from '../support/scrape.js';
import { readPage, rowsUnder } from './pages.js';

const page = await readPage('docs/operations.md');
const rows = rowsUnder(page, '## Metrics').map(([name = '', type = '', labels = '', meaning = '']) => {
  // A cell that is one code span has lost its marks.
  const [names = '', values] = labels.replace(/^\w+$/, '`$&`').split(': ');
  return {
    name,
    type,
    labels: codeSpans(names),
    values: values === undefined ? undefined : codeSpans(values),
    meaning,
  };
});

function codeSpans(text: string): string[] {
  return [...text.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name);
}

describe('docs/operations.md, Metrics', () => {
  let node: SeenNode;
  let metrics: Map<string, Metric>;
  beforeAll(async () => {
    node = await seenNode();
    metrics = await node.scrape();
  });
  afterAll(() => node.close());

  const own = () => [...metrics].filter(([name]) => name.startsWith('perennial_'));

  it('lists every metric of the service with its type, and no other', () => {
    const listed = rows.filter(({ name }) => name.startsWith('perennial_')).map(({ name, type }) => `${name} ${type}`);
    expect(listed.toSorted()).toEqual(
      own()
        .map(([name, { type }]) => `${name} ${type}`)
        .toSorted(),
    );
    for (const { name, meaning } of rows) expect(meaning, name).not.toBe('');
  });

  it('names the labels that each has, and no other', () => {
    for (const { name, labels } of rows.filter((row) => row.name.startsWith('perennial_'))) {
      expect(labels.toSorted(), name).toEqual(labelsOf(metrics.get(name)));
    }
  });

  it('lists the values of the last label where they are few, and no other', () => {
    const listed = rows.filter(({ values }) => values !== undefined);
    expect(listed.length).toBeGreaterThan(5);
    for (const { name, labels, values = [] } of listed) {
      const shown = new Set(metrics.get(name)?.samples.map((sample) => sample.labels[labels.at(-1) ?? '']));
      expect([...shown].toSorted(), name).toEqual(values.toSorted());
    }
  });

  it('everything else is of a kind that it names', () => {
    const kinds = rows.filter(({ name }) => name.includes('*')).flatMap(({ name }) => name.match(/\w+_(?=\*)/g) ?? []);
    const others = [...metrics.keys()].filter((name) => !name.startsWith('perennial_'));
    expect(others.length).toBeGreaterThan(10);
    expect(others.filter((name) => !kinds.some((kind) => name.startsWith(kind)))).toEqual([]);
  });
});
