import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StatementLine } from '../../src/gateways/gateway.js';
import { readStatementFromCsv } from '../../src/reconciliation/statement-csv.js';
import { at, bytes, csvOf, HEADER, line } from './support.js';

async function read(text: string | Uint8Array | AsyncIterable<Uint8Array>): Promise<StatementLine[]> {
  const lines: StatementLine[] = [];
  const source = typeof text === 'string' || text instanceof Uint8Array ? bytes(text) : text;
  for await (const numbered of readStatementFromCsv(source)) lines.push(numbered.line);
  return lines;
}

const GOOD = 'DEBIT,1001000101,1990,SUCCESS,2026-01-30 12:00:00,RI1';

describe('a statement file', () => {
  it('is read with CRLF and LF, with and without a byte order mark, with and without quotation marks', async () => {
    const expected = [line('1001000101')];
    for (const text of [
      `${HEADER}\n${GOOD}\n`,
      `${HEADER}\r\n${GOOD}\r\n`,
      `\ufeff${HEADER}\n${GOOD}\n`,
      `"kind","number",amountCent,"status",bookedAt,institutionRef\r\n"DEBIT","1001000101","1990",SUCCESS,"2026-01-30 12:00:00",RI1\n`,
    ]) {
      expect(await read(text)).toEqual(expected);
    }
  });

  it('accepts times as the API does', async () => {
    const times = ['2026-01-30 12:00:00', '2026-01-30T12:00:00+08:00', '2026-01-30T04:00:00Z', '2026-01-30T12:00:00'];
    const text = [HEADER, ...times.map((time) => GOOD.replace('2026-01-30 12:00:00', time)), ''].join('\n');
    expect((await read(text)).map(({ bookedAt }) => bookedAt)).toEqual(times.map(() => at('2026-01-30 12:00:00')));
  });

  it('accepts numbers that only look as if a spreadsheet had changed them', async () => {
    const numbers = ['100000001000000101', '12E4', '1E17', '1000', '100000000000000', 'R100000001000000100'];
    const text = [HEADER, ...numbers.map((number) => GOOD.replace('1001000101', number)), ''].join('\n');
    expect((await read(text)).map(({ number }) => number)).toEqual(numbers);
    // Unlike our own numbers, an institution's reference may end in zeros.
    expect(await read(`${HEADER}\n${GOOD.replace('RI1', '123456789012345000')}\n`)).toHaveLength(1);
  });

  it('with the header only means that nothing was booked', async () => {
    expect(await read(`${HEADER}\n`)).toEqual([]);
  });

  const text = fc.stringMatching(/^[\x21-\x7e]{1,64}$/);
  const someLine = fc.record({
    kind: fc.constantFrom<StatementLine['kind']>('debit', 'refund'),
    number: text,
    amountCent: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    status: fc.constantFrom<StatementLine['status']>('SUCCESS', 'FAIL', 'PENDING'),
    // Whole seconds, because the file format has no fractions.
    bookedAt: fc.integer({ min: 1, max: 4_000_000_000 }).map((seconds) => seconds * 1000),
    institutionRef: text,
  });
  const quoted = (field: string) => `"${field.replaceAll('"', '""')}"`;
  const escaped = (one: StatementLine): StatementLine => ({
    ...one,
    number: quoted(one.number),
    institutionRef: quoted(one.institutionRef),
  });

  it('is parsed the same for any field contents and any chunking of its bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someLine, { maxLength: 5 }), fc.integer({ min: 1, max: 60 }), async (lines, size) => {
        const whole = Buffer.from(csvOf(lines.map(escaped)));
        const pieces = async function* () {
          for (let from = 0; from < whole.length; from += size) yield whole.subarray(from, from + size);
        };
        expect(await read(pieces())).toEqual(lines);
      }),
    );
  });

  it('that is truncated anywhere but at the end of a line is refused', async () => {
    const whole = `${HEADER}\n${GOOD}\n${GOOD}\n`;
    for (let end = 0; end < whole.length; end += 1) {
      const cut = whole.slice(0, end);
      if (cut.endsWith('\n')) continue;
      await expect(read(cut), JSON.stringify(cut)).rejects.toThrow(/cut off|is empty/);
    }
  });
});

describe('refused, with the line', () => {
  const withLine = (second: string) => `${HEADER}\n${GOOD}\n${second}\n`;
  it.each([
    ['an empty file', '', 'the statement is empty'],
    ['a byte order mark alone', '\ufeff', 'the statement is empty'],
    ['no header', `${GOOD}\n`, `line 1 of the statement: it must be ${HEADER}`],
    ['columns in another order', `number,kind,amountCent,status,bookedAt,institutionRef\n`, 'line 1 of the statement'],
    ['a column more', `${HEADER},note\n`, 'line 1 of the statement'],
    ['a field less', withLine('DEBIT,1,1,SUCCESS,2026-01-30 12:00:00'), 'line 3 of the statement: it has 5 fields'],
    ['a field more', withLine(`${GOOD},x`), 'line 3 of the statement: it has 7 fields instead of 6'],
    ['an empty line', withLine(''), 'line 3 of the statement: it has 1 fields'],
    ['a kind in small letters', withLine(GOOD.replace('DEBIT', 'debit')), 'line 3 of the statement: kind must be'],
    ['no number', withLine(GOOD.replace('1001000101', '')), 'line 3 of the statement: number must be'],
    ['a number with a space', withLine(GOOD.replace('1001000101', '1 2')), 'line 3 of the statement: number must be'],
    ...['', '0', '-1', '+1', '19.90', '1e3', '"1,990"', '0x10', ' 1', '01', '٣', '9007199254740992'].map((amount) => [
      `amount ${amount}`,
      withLine(GOOD.replace(',1990,', `,${amount},`)),
      'line 3 of the statement: amountCent must be a whole number of cents from 1',
    ]),
    ...['1.00000E+17', '1E+17', '1.00000001E+17', '"1,00000E+17"', '1.00000e+17'].map((number) => [
      `a number that a spreadsheet has written as ${number}`,
      withLine(GOOD.replace('1001000101', number)),
      `line 3 of the statement: number is ${number.replaceAll('"', '')}: a spreadsheet has changed it. Export the statement again, and compare that file without saving it in a spreadsheet`,
    ]),
    [
      'a number that a spreadsheet has cut to 15 digits',
      withLine(GOOD.replace('1001000101', '100000001000000000')),
      'line 3 of the statement: number is 100000001000000000: a spreadsheet has changed it',
    ],
    [
      'a reference that a spreadsheet has changed',
      withLine(GOOD.replace('RI1', '2.0260130E+27')),
      'line 3 of the statement: institutionRef is 2.0260130E+27: a spreadsheet has changed it',
    ],
    ['a status that is not known', withLine(GOOD.replace('SUCCESS', 'OK')), 'line 3 of the statement: status must be'],
    ['a day that is none', withLine(GOOD.replace('01-30', '02-30')), 'line 3 of the statement: bookedAt must be'],
    ['no time', withLine(GOOD.replace(' 12:00:00', '')), 'line 3 of the statement: bookedAt must be'],
    ['no reference', withLine(GOOD.replace('RI1', '')), 'line 3 of the statement: institutionRef must be'],
    ['a quotation mark inside a field', withLine(GOOD.replace('RI1', 'R"1')), 'line 3 of the statement: a quotation'],
    ['text after a closing one', withLine(GOOD.replace('RI1', '"R"1')), 'line 3 of the statement: text after'],
    ['a CR alone', withLine(GOOD.replace('RI1', 'R\rI')), 'line 3 of the statement: a CR without an LF'],
    ['a field that is never closed', withLine(GOOD.replace('RI1', '"RI1')), 'the file may have been cut off'],
    ['a line without end', `${HEADER}\n${'x'.repeat(10_000)}`, 'line 2 of the statement: it has more than 4096'],
    [
      'after a field of several lines',
      withLine(`${GOOD.replace('RI1', '"R\n1"')}\nx`),
      'line 3 of the statement: inst',
    ],
    ['after mixed line ends', `${HEADER}\n${GOOD}\r\n${GOOD}\n${GOOD.replace('1990', '"\n\n"')}\n`, 'line 4 of'],
    ['the first error, before an unreadable rest', withLine('debit\nR"1'), 'line 3 of the statement: it has 1 fields'],
  ])('%s', async (_what, text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  it.each([
    ['bytes that are not UTF-8', Buffer.from(`${HEADER}\n${GOOD}\n\xff\n`, 'latin1')],
    [
      'a character of which half is missing',
      Buffer.concat([Buffer.from(`${HEADER}\n`), Buffer.from('中').subarray(0, 2)]),
    ],
    ['UTF-16', Buffer.from(`\ufeff${HEADER}\n${GOOD}\n`, 'utf16le')],
  ])('%s', async (_what, text) => {
    await expect(read(text)).rejects.toThrow(/line \d of the statement: .*not UTF-8/);
  });
});
