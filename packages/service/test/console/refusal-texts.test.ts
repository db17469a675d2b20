import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALERT_SENTENCES, alertText, readAlertText } from '../../src/alerts/alert-wordings.js';
import { PROBLEM_TITLES } from '../../src/console/problem-titles.js';
import { REFUSAL_CODES } from '../../src/operator/refusal-codes.js';
import { RESULT_CODES, readResult, resultText } from '../../src/operator/result-texts.js';
import type { Said } from '../../src/platform/wordings.js';
import { packageRoot } from '../support/processes.js';
import { importPage } from './page-source.js';

/** The console's own table of refusal texts in Chinese. The service provides the English texts. */
const page = await importPage('i18n', 'refusals.ts');
const sentences = await importPage('i18n', 'said.ts');

const source = path.join(packageRoot, 'src');
const sources = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(path.join(source, file), 'utf8') }));

/** Returns the service's texts by refusal code. Each inserted value is written as {}. */
function textsOfService(): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const { text } of sources) {
    for (const { 1: code = '', 2: said = '' } of text.matchAll(
      /\b(?:refusal\(\s*|createRefusal\(\s*\w+,\s*)'([\w-]+)'[^`;]*\)`((?:\$\{[^`]*?\}|[^`])*)`/g,
    )) {
      texts.set(code, [...(texts.get(code) ?? []), withBlanks(said)]);
    }
  }
  return texts;
}

/** Replaces each inserted value by {}, also if the value's expression has braces itself. */
function withBlanks(template: string): string {
  let depth = 0;
  let text = '';
  for (const [place, letter] of [...template].entries()) {
    if (letter === '{' && (depth > 0 || template[place - 1] === '$')) depth += 1;
    if (depth === 0) text += letter;
    if (letter === '}' && depth > 0) {
      depth -= 1;
      if (depth === 0) text += '{}';
    }
  }
  return text.replaceAll('${}', '{}');
}

describe('a refusal', () => {
  it('has a Chinese text for each code and kind, and no other', () => {
    expect(Object.keys(page.CHINESE).sort()).toEqual([...Object.keys(PROBLEM_TITLES), ...REFUSAL_CODES].sort());
    for (const text of Object.values<string>(page.CHINESE)) expect(text).toMatch(/\p{Script=Han}/u);
  });

  it('has an English text for each code, with as many values as the Chinese text has placeholders', () => {
    const said = textsOfService();
    expect([...said.keys()].sort()).toEqual([...REFUSAL_CODES].sort());
    for (const [code, texts] of said) {
      const blanks = [...(page.CHINESE[code] ?? '').matchAll(/\{(\d+)\}/g)].map(([, number]) => Number(number));
      const given = texts.map((text) => text.split('{}').length - 1);
      // Every English text of a code must insert as many values as the Chinese text has placeholders.
      expect({ code, values: [...new Set(given)] }).toEqual({ code, values: [Math.max(0, ...blanks)] });
      expect([...new Set(blanks)].length, code).toBe(Math.max(0, ...blanks));
    }
  });

  it('always has a code if the console has the step', () => {
    // Files whose refusals need no code: steps that only the command line has, and texts that are part of another
    // refusal.
    const besides = /^operator\/(cells\/(init-cell|split)|copies\/|provisioning\/demo|orders\/advance-order)/;
    const uncoded = sources
      .filter(({ file }) => /^(operator|console)\//.test(file) && !besides.test(file))
      .flatMap(({ file, text }) =>
        [...text.matchAll(/new (?:OperatorError|NotFoundError|NotAllowedError|BusyError)\(([^)\n]*)/g)].map(
          ([, said]) => `${file}: ${said}`,
        ),
      );
    expect(uncoded).toEqual(["operator/approvals/request-refund.ts: result ?? 'not known yet'"]);
  });

  it('names a field by a word that is known in Chinese', () => {
    const named = sources
      .filter(({ file }) => file.startsWith('operator/') && !file.startsWith('operator/copies/'))
      .flatMap(({ text }) => [
        ...text.matchAll(
          /\b(?:require(?:Code|Name|Text|Integer|OneOf|Unique|AtMost|PeerUrl)|createNotFound)\(\s*'([^']+)'/g,
        ),
        ...text.matchAll(/\brequire(?:Found|Parsed)\([^;]*?, '([^']+)', /g),
      ]);
    const words = [...new Set(named.map(([, word = '']) => word))];
    expect(words.length).toBeGreaterThan(50);
    expect(words.filter((word) => page.CHINESE_WORDS[word] === undefined)).toEqual([]);
  });

  it("is shown in the language of the page, or in the service's words if the page does not know it", () => {
    const told = { detail: 'there is no product "X"', code: 'not-there', values: ['product', '"X"'] };
    expect(page.refusalText(told, 'en')).toBe('There is no product "X"');
    expect(page.refusalText(told, 'zh')).toBe('没有产品 "X"');
    expect(page.refusalText({ ...told, code: 'of-a-later-release' }, 'zh')).toBe('There is no product "X"');
  });

  it('names a status by a word of the language', () => {
    const detail = 'order 7 of this user is ACTIVE: end it before the erasure';
    const told = { detail, code: 'user-has-order', values: ['7', 'ACTIVE'] };
    expect(page.refusalText(told, 'en')).toBe('Order 7 of this user is active: end it before the erasure');
    expect(page.refusalText(told, 'zh')).toBe('该用户的订单 7 状态为生效中，请先退订');
  });

  it('has amounts in the form of the other amounts on the page', () => {
    const detail = 'period 1 of order 7 has 1990.00 CNY left to refund: 10.00 CNY of 2000.00 CNY was refunded';
    const values = ['1', '7', '1990.00 CNY', '10.00 CNY', '2000.00 CNY'];
    const told = { detail, code: 'refund-too-much', values };
    expect(page.refusalText(told, 'en')).toBe(
      'Period 1 of order 7 has ¥1,990.00 left to refund: ¥10.00 of ¥2,000.00 was refunded',
    );
    expect(page.refusalText(told, 'zh')).toBe('订单 7 第 1 期可退 ¥1,990.00：实收 ¥2,000.00，已退 ¥10.00');
  });
});

describe('the texts of alerts and results', () => {
  it('have a Chinese text for each sentence, with the same placeholders, and no other', () => {
    expect(Object.keys(sentences.CHINESE_SENTENCES).sort()).toEqual([...ALERT_SENTENCES, ...RESULT_CODES].sort());
    for (const code of ALERT_SENTENCES) expect([code, blanksOf(code)]).toEqual([code, valuesOf(alertText, code)]);
    for (const code of RESULT_CODES) expect([code, blanksOf(code)]).toEqual([code, valuesOf(resultText, code)]);
  });

  const blanksOf = (code: string) => new Set((sentences.CHINESE_SENTENCES[code] ?? '').match(/\{\d\}/g) ?? []).size;
  const valuesOf = <Code extends string>(say: (code: Code, ...values: string[]) => string, code: Code) =>
    ['¹', '²', '³'].filter((value) => say(code, '¹', '²', '³').includes(value)).length;

  it('are parsed from the stored text, with their values', () => {
    for (const code of ALERT_SENTENCES) {
      const values = ['SUCCESS', 'X 1', '3'].slice(0, valuesOf(alertText, code));
      const [kind = ''] = code.split('|');
      expect(readAlertText(kind, alertText(code, ...values))).toEqual({ code, values });
    }
    for (const code of RESULT_CODES) {
      const values = ['R1', 'SUCCESS'].slice(0, valuesOf(resultText, code));
      expect(readResult({ result: resultText(code, ...values), refusal: null })).toEqual({ code, values });
    }
    // Sentences of earlier releases.
    const resolved = readAlertText('reconciliation-failed', 'the day was compared');
    expect(resolved).toEqual({ code: 'reconciliation-failed|resolved', values: [] });
    const refunded = readAlertText('refund-refused', 'a later refund of the period has succeeded');
    expect(refunded).toEqual({ code: 'refund-refused|resolved', values: [] });
    const was = readResult({ result: 'the order was UNSUBSCRIBED already', refusal: null });
    expect(was).toEqual({ code: 'order-was', values: ['UNSUBSCRIBED'] });
    expect(readAlertText('refund-refused', 'account closed')).toBeNull();
    expect(readAlertText('refund-refused', 'from MOCKPAY')).toBeNull();
    expect(readResult({ result: 'something of before', refusal: null })).toBeNull();
  });

  it('are shown in the language of the page, and unchanged if they are unknown', () => {
    const shown = (text: string, said: Said | null) =>
      (['en', 'zh'] as const).map((language) =>
        sentences.saidText(text, said, language, (cents: number) => `¥${cents / 100}`),
      );
    const open = 'open: 2 MISSING_HERE, 1 AMOUNT';
    expect(shown(open, readAlertText('reconciliation-difference', open))).toEqual([
      'Open: 2 only in the statement, 1 with another amount',
      '未关闭：仅对账单有 2 条、金额不一致 1 条',
    ]);
    const wrong = 'asked for 2990, debited 2991';
    expect(shown(wrong, readAlertText('debit-wrong-amount', wrong))).toEqual([
      'Requested ¥29.9, debited ¥29.91',
      '请求扣款 ¥29.9，实际扣款 ¥29.91',
    ]);
    const refusal = { code: 'period-refunded', values: ['2', '100'] } as const;
    const result = 'not refunded: period 2 of order 100 was already refunded in full';
    const sentence = 'Not refunded: period 2 of order 100 was already refunded in full';
    expect(shown(result, readResult({ result, refusal }))).toEqual([sentence, '订单 100 第 2 期已全额退款']);
    const billed = 'period 1 of order 100 is BILLED: nothing is left to refund';
    expect(shown(billed, { code: 'nothing-to-refund', values: ['1', '100', 'BILLED'] })).toEqual([
      'Period 1 of order 100 is billed: nothing is left to refund',
      page.refusalText({ detail: '', code: 'nothing-to-refund', values: ['1', '100', 'BILLED'] }, 'zh'),
    ]);
    expect(shown('account closed', null)).toEqual(['account closed', 'account closed']);
  });
});
