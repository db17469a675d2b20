import { describe, expect, it } from 'vitest';
import { record, table } from '../../src/operations/command/table.js';
import { escapeInvisible, toVisibleJson } from '../../src/platform/escape-invisible.js';

describe('a text from outside', () => {
  it.each([
    ['an escape sequence', '\u001b[2J\u001b[31mred', '\\u{1b}[2J\\u{1b}[31mred'],
    ['a line break', 'a\nStatus COMPLETED', 'a\\u{a}Status COMPLETED'],
    ['a carriage return, which writes over the line', 'a\rb', 'a\\u{d}b'],
    ['a tab', 'a\tb', 'a\\u{9}b'],
    ['a NUL and a delete', '\u0000\u007f', '\\u{0}\\u{7f}'],
    ['control characters of eight bits', '\u0085\u009b31m', '\\u{85}\\u{9b}31m'],
    ['separators of lines and paragraphs', 'a\u2028b\u2029c', 'a\\u{2028}b\\u{2029}c'],
    ['overrides of direction', '\u202eDIAP\u202c \u2066x\u2069', '\\u{202e}DIAP\\u{202c} \\u{2066}x\\u{2069}'],
    ['marks of direction', 'a\u200e\u200f\u061cb', 'a\\u{200e}\\u{200f}\\u{61c}b'],
    ['zero-width characters', 'a\u200b\u200c\u2060\ufeff\u00adb', 'a\\u{200b}\\u{200c}\\u{2060}\\u{feff}\\u{ad}b'],
    ['joiners and selectors without an emoji', 'a\u200db\ufe0f', 'a\\u{200d}b\\u{fe0f}'],
    ['tags', 'a\u{e0061}', 'a\\u{e0061}'],
    ['fillers', 'a\u3164\u115f', 'a\\u{3164}\\u{115f}'],
    ['half a surrogate pair', 'a\ud83d', 'a\\u{d83d}'],
    ['spaces that would end a line or make a column', 'a    b', 'a \\u{20}\\u{20}\\u{20}b'],
    ['other spaces', 'a\u00a0b\u3000c', 'a\\u{a0}b\\u{3000}c'],
  ])('shows %s', (_what, text, expected) => {
    expect(escapeInvisible(text)).toBe(expected);
    expect(escapeInvisible(escapeInvisible(text))).toBe(expected);
  });

  it.each(['plain text, with a space', '张三 Ünïted e\u0301', '❤️ 👨‍👩‍👧 👩🏽‍💻', 'עברית العربية', 'C:\\u{1b}', ''])(
    'leaves %j as it is',
    (text) => {
      expect(escapeInvisible(text)).toBe(text);
    },
  );
});

describe('a table', () => {
  const hostile = 'x\n\u001b[1mforged';

  it('a cell never leaves its row, and columns align with their titles', () => {
    expect(
      `\n${
        table(
          ['A', 'B'],
          [
            [hostile, 'y'],
            ['1', '2'],
          ],
        ).text
      }\n`,
    ).toBe(`
A                      B
x\\u{a}\\u{1b}[1mforged  y
1                      2
`);
    expect(record([['Name', hostile]]).text).toBe('Name  x\\u{a}\\u{1b}[1mforged');
  });
});

describe('JSON', () => {
  it.each(['a\n\u001b\u009b\u202e\u2028\u{e0061}\ud83d x  y', '❤️ 👨‍👩‍👧', '张三'])(
    '%j is the same text when it is read',
    (text) => {
      const written = toVisibleJson({ text });
      expect(JSON.parse(written)).toEqual({ text });
      expect(escapeInvisible(written.replaceAll('  ', ' '))).toBe(written.replaceAll('  ', ' '));
    },
  );
});

it('columns align with their titles, with wide characters counted as two', () => {
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
