import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SeenNode, seenNode } from '../metrics/world.js';
import { labelsOf, type Metric } from '../support/scrape.js';
import { readPage, rowsUnder } from './pages.js';

const page = await readPage('docs/operations.md');
const rows = rowsUnder(page, '## Metrics').map(([name = '', type = '', labels = '', meaning = '']) => ({
  name,
  type,
  /** Each as `name`, or as `name`: its values. */
  labels: [...labels.matchAll(/`(\w+)`(?=[,:]|$)(?!, `\w+`:)/g)].map(([, label = '']) => label),
  text: labels,
  meaning,
}));

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
    const listed = rows.filter(({ name }) => name.startsWith('perennial_'));
    for (const { name, text } of listed) {
      const named = [...(text.split(':')[0]?.matchAll(/`(\w+)`/g) ?? [])].map(([, label]) => label);
      expect(named.toSorted(), name).toEqual(labelsOf(metrics.get(name)));
    }
  });

  it('lists the values of a label where they are few, and no other', () => {
    for (const { name, text } of rows) {
      const [labels = '', values] = text.split(': ');
      if (values === undefined) continue;
      const label = [...labels.matchAll(/`(\w+)`/g)].at(-1)?.[1] ?? '';
      const listed = [...values.matchAll(/`([\w-]+)`/g)].map(([, value]) => value);
      const shown = new Set(metrics.get(name)?.samples.map(({ labels: of }) => of[label]));
      expect([...shown].toSorted(), name).toEqual(listed.toSorted());
    }
  });

  it('everything else is of a kind that it names', () => {
    const kinds = rows.filter(({ name }) => name.includes('*')).flatMap(({ name }) => name.match(/\w+_(?=\*)/g) ?? []);
    const others = [...metrics.keys()].filter((name) => !name.startsWith('perennial_'));
    expect(others.length).toBeGreaterThan(10);
    expect(others.filter((name) => !kinds.some((kind) => name.startsWith(kind)))).toEqual([]);
  });
});
