import { expect, it } from 'vitest';
import { table } from '../../src/operations/command/table.js';

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
