import { expect, it } from 'vitest';
import { record, table } from '../../src/operations/command/table.js';

it('columns stand under their titles, with wide characters counted as two', () => {
  const rows = [
    ['test_a', '伙伴一', 'ACTIVE'],
    ['test_long_one', 'Ünïted e\u0301', 'SUSPENDED'],
    ['x', 'カタカナ 한글 ＡＢ', ''],
  ];
  expect(`\n${table(['APP ID', 'NAME', 'STATUS'], rows).text}\n`).toBe(`
APP ID         NAME                STATUS
test_a         伙伴一              ACTIVE
test_long_one  Ünïted e\u0301            SUSPENDED
x              カタカナ 한글 ＡＢ
`);
});

it('an empty table says so', () => {
  expect(table(['A', 'B'], []).text).toBe('nothing yet');
});

it('a record is a line for each field', () => {
  expect(
    record([
      ['Name', 'x'],
      ['Longer name', 'y'],
    ]).text,
  ).toBe('Name         x\nLonger name  y');
});
