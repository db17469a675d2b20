import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readCodes } from '../../src/fulfilment/code-file.js';
import { toBytes } from '../../src/operations/command/files.js';
import { fileOf } from './support.js';

const TAKEN: readonly (readonly [what: string, file: string, codes: readonly string[]])[] = [
  ['one on each line', 'A\nB\n', ['A', 'B']],
  ['a last line that does not end', 'A\nB', ['A', 'B']],
  ['CRLF', 'A\r\nB\r\n', ['A', 'B']],
  ['a byte order mark', '\ufeffA\nB\n', ['A', 'B']],
  ['a byte order mark before the column', '\ufeffcode\nA\n', ['A']],
  ['blank lines', '\n\nA\n  \n\nB\n\n', ['A', 'B']],
  ['white space around', '  A \n\tB\n', ['A', 'B']],
  ['quotation marks', '"A"\n"B,1"\n"C ""2"""\n', ['A', 'B,1', 'C "2"']],
  ['a column alone', 'code\nA\n', ['A']],
  ['a column among others, in any case', 'No,Code,Price\n1,A,5\n2,B,5\n', ['A', 'B']],
  ['lines of a table that are blank', 'no,code\n,\n1,A\n', ['A']],
  ['letters of any language', '卡密-一\nKÖLN\n', ['卡密-一', 'KÖLN']],
  ['200 characters', `${'界'.repeat(200)}\n`, ['界'.repeat(200)]],
  ['twice the same', 'A\nB\nA\n A \n', ['A', 'B']],
];

const REFUSED: readonly (readonly [what: string, file: string | Uint8Array, why: string])[] = [
  ['nothing at all', '', 'the file holds no codes'],
  ['blank lines alone', '\n \n', 'the file holds no codes'],
  ['a column without codes', 'code\n', 'the file holds no codes'],
  ['an empty code', 'no,code\n1,A\n2,\n', 'line 3 of the codes: the code is empty'],
  ['201 characters', `A\n${'B'.repeat(201)}\n`, 'line 2 of the codes: the code has more than 200 characters'],
  ['a control character', 'A\nB\u0007\nC\n', 'line 2 of the codes: the code holds control characters'],
  ['a line break in a code', 'A\n"B\nC"\n', 'line 2 of the codes: the code holds control characters'],
  ['a line separator in a code', 'A\u2028B\n', 'line 1 of the codes: the code holds control characters'],
  ['several columns', 'A,B\n', 'line 1 of the codes: it has several columns, and none of them is named code'],
  ['a line with more', 'A\nB,C\n', 'line 2 of the codes: it has 2 fields instead of 1'],
  ['a line with less', 'no,code\n1,A\n2\n', 'line 3 of the codes: it has 1 fields instead of 2'],
  ['a CR alone', 'A\rB\n', 'line 1 of the codes: a CR without an LF'],
  ['an open quotation mark', 'A\n"B\n', 'line 3 of the codes: it does not end: the file may have been cut off'],
  ['what is not UTF-8', Buffer.from([0x41, 0x0a, 0xff, 0x0a]), 'line 1 of the codes: this or a line shortly after'],
  ['something else', Buffer.alloc(10_000, 'x'), 'line 1 of the codes: it has more than 4096 characters'],
];

describe('a file of codes', () => {
  it.each(TAKEN)('is accepted with %s', async (_what, file, codes) => {
    expect((await readCodes(fileOf(file))).codes).toEqual(codes);
  });

  it.each(REFUSED)('is refused with %s', async (_what, file, why) => {
    await expect(readCodes(fileOf(file))).rejects.toThrow(why);
  });

  it('leaves other work its turns while a text from the console is read', async () => {
    let turns = 0;
    let isRead = false;
    const others = (async () => {
      for (; !isRead; turns += 1) await setImmediate();
    })();
    await readCodes(toBytes(`${'A'.repeat(99)}\n`.repeat(10_000)));
    isRead = true;
    await others;
    expect(turns).toBeGreaterThan(50);
  });
});
