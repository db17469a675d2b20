import { afterEach, describe, expect, it, vi } from 'vitest';
import { PROBLEM_TITLES } from '../../src/console/problem-titles.js';
import { readPage, rowsUnder } from '../docs/pages.js';
import { importPage } from './page-source.js';

/** Logic of the pages that needs no browser: typed values and answers of the service. */

const { parseAmount, amountText } = await importPage('pages', 'order', 'refunds', 'typed-amount.ts');

describe('a typed amount', () => {
  it.each([
    ['0', 0],
    ['19', 1900],
    ['19.9', 1990],
    [' 19.90 ', 1990],
    ['¥19.90', 1990],
    ['￥ 1,234.50', 123_450],
    ['1，234。50', 123_450],
    ['1,234,567', 123_456_700],
    ['123456789.99', 12_345_678_999],
  ])('%s is so many cents', (text, cents) => {
    expect(parseAmount(text, '¥')).toBe(cents);
  });

  it.each([
    ...['1,5', '1,50', '12,34.50', '1,2345', '1234,567', ',5', '1,', '1,234,', '1.5.0', '1.234', '.5', '5.', ''],
    ...['-1', '+1', '1e3', '0x10', '１２', '19.90 yuan', '1 234', '1234567890'],
  ])('%s is none: it is asked again rather than guessed at', (text) => {
    expect(parseAmount(text, '¥')).toBeUndefined();
  });

  it('may have the sign of the installation’s currency, and no other', () => {
    expect(parseAmount('US$1,234.50', 'US$')).toBe(123_450);
    expect(parseAmount('CHF 19.90', 'CHF')).toBe(1990);
    expect(parseAmount('€19.90', '€')).toBe(1990);
    expect(parseAmount('¥19.90', '€')).toBeUndefined();
    expect(parseAmount('￥19.90', '€')).toBeUndefined();
  });

  it('is shown as it is typed', () => {
    expect(amountText(1990)).toBe('19.90');
    expect(parseAmount(amountText(4_321_007), '¥')).toBe(4_321_007);
  });
});

// The language of the browser, by which amounts are formatted.
vi.stubGlobal('navigator', { languages: ['en-GB'] });
const { useAuditFacts } = await importPage('pages', 'audit', 'audit-facts.ts');
const { LanguageContext } = await importPage('i18n', 'language.ts');
// Without their types, whose empty HTMLElement conflicts with that of the other tests.
const { createElement } = await import('react' as string);
const { renderToStaticMarkup } = await import('react-dom/server' as string);

describe('the detail of an audit entry', () => {
  /** Returns the fields as the page shows them in the language. */
  function factsIn(language: 'en' | 'zh', action: string, detail: object): string {
    let shown = '';
    const Show = () => {
      const facts: [string, string][] = useAuditFacts()({ action, detail });
      shown = facts.map((fact) => fact.join(': ')).join(' · ');
      return null;
    };
    renderToStaticMarkup(createElement(LanguageContext.Provider, { value: language }, createElement(Show)));
    return shown;
  }

  it.each([
    [
      'order.refund',
      { refundNo: 'R1', cycleNo: 2, amountCent: 990, key: 'k', note: 'password', keepBenefits: true },
      'Refund no.: R1 · Period: 2 · Amount: ¥9.90 · Idempotency key: k · Note: password · Benefits kept: yes',
      '退款单号: R1 · 期数: 2 · 金额: ¥9.90 · 幂等键: k · 说明: password · 保留权益: 是',
    ],
    ['session.begin', { by: 'password' }, 'Signed in with: password', '登录方式: 密码'],
    [
      'order.unsubscribe',
      { reason: 'x', from: 'ACTIVE', to: 'UNSUBSCRIBED' },
      'Reason: x · Status: Active → Unsubscribed',
      '原因: x · 状态: 生效中 → 已退订',
    ],
    [
      'approval.approve',
      { approvalId: '7', about: 'channel.create', from: 'WAITING', to: 'APPROVED' },
      'Approval: 7 · About: Created a channel · Status: Waiting → Approved',
      '审批: 7 · 事项: 新增渠道 · 状态: 待审批 → 已批准',
    ],
    [
      'reconciliation.close',
      { kind: 'MISSING_HERE', lineKind: 'DEBIT' },
      'Kind: only in the statement · Record: debit',
      '类型: 仅对账单有 · 记录类型: 扣款',
    ],
    ['person.create', { role: 'finance' }, 'Role: Finance', '角色: 财务'],
    ['alert.acknowledge', { kind: 'pool-empty' }, 'Kind: No codes left', '类型: 兑换码已用完'],
  ])('of %s is in words', (action, detail, en, zh) => {
    expect([factsIn('en', action, detail), factsIn('zh', action, detail)]).toEqual([en, zh]);
  });

  it('has amounts at any depth', () => {
    const detail = {
      amountCent: 2990,
      from: null,
      to: { benefits: [{ name: 'VIP', faceValueCent: 1500 }], cycles: 2 },
    };
    expect(factsIn('en', 'product.create', detail)).toBe(
      'Price of a period: ¥29.90 · Benefits: – → (Name: VIP, Face value: ¥15.00) · Periods: – → 2',
    );
  });
});

const { STATUSES } = await importPage('parts', 'values', 'status.tsx');

it('docs/console.md has the word of the console for each status in an export', async () => {
  const rows = rowsUnder(await readPage('docs/console.md'), '### Codes in exports');
  for (const [column, kind] of [
    ['orderStatus', 'order'],
    ['`latestPaymentStatus`, `paymentStatus`', 'payment'],
    ['debits, `status`', 'debit'],
    ['refunds, `status`', 'refundLine'],
    ['bulk results, `status`', 'item'],
  ]) {
    const words = Object.entries<string[]>(STATUSES[kind ?? '']).map(([code, [, en, zh]]) => [code, en, zh]);
    const listed = rows.filter(([name]) => name === column).map(([, ...cells]) => cells);
    expect(listed).toEqual(words);
  }
});

const { typeAhead, NOTHING_TYPED } = await importPage('search', 'typed-ahead.ts');

it('keys pressed before the field has focus are text, Backspace removes one, a final Enter counts, shortcuts do not', () => {
  const type = (...keys: readonly string[]) =>
    keys.reduce((typed, key) => typeAhead(typed, { key }) ?? typed, NOTHING_TYPED);
  expect(type('R', '1', ' ', '7')).toEqual({ text: 'R1 7', isEntered: false });
  expect(type('1', '张', 'Backspace', '2', 'Shift', 'Tab', 'Enter')).toEqual({ text: '12', isEntered: true });
  expect(type('1', 'Enter', '2')).toEqual({ text: '12', isEntered: false });
  expect(type('Backspace')).toEqual(NOTHING_TYPED);
  for (const held of ['ctrlKey', 'metaKey', 'altKey', 'isComposing']) {
    expect(typeAhead(NOTHING_TYPED, { key: 'a', [held]: true })).toBeUndefined();
  }
});

const requests = await importPage('pages', 'order', 'refunds', 'refund-request.ts');
const { Problem, Unreachable } = await importPage('api', 'problem.ts');

describe('a refund without an answer', () => {
  const ann = { person: 'ann@example.com', orderNo: '17' };
  const options = { keepBenefits: true, outside: false, unsubscribe: false };
  const small = { cycleNo: 1, amountCent: 300, key: 'small', options };
  const large = { cycleNo: 1, amountCent: 1_500, key: 'large', options: { ...options, unsubscribe: true } };
  /** A fake of the browser's storage, which several tabs share. */
  const storage = (kept = new Map<string, string>()) => ({
    get length() {
      return kept.size;
    },
    key: (index: number) => [...kept.keys()][index] ?? null,
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  });
  afterEach(() => vi.unstubAllGlobals());

  it('is kept per operator and order until it is answered', () => {
    vi.stubGlobal('localStorage', storage());
    requests.keepUnanswered(ann, small);
    requests.keepUnanswered(ann, large);
    expect(requests.findUnanswered(ann)).toEqual([small, large]);
    for (const other of [
      { ...ann, person: 'ann' },
      { ...ann, orderNo: '1' },
      { ...ann, orderNo: '171' },
    ]) {
      expect(requests.findUnanswered(other)).toEqual([]);
    }
    requests.forgetUnanswered(ann, small);
    expect(requests.findUnanswered(ann)).toEqual([large]);
  });

  it('reuses its key for the same amount of the same period only', () => {
    const keyFor = (cycleNo: number, amountCent: number) =>
      requests.keyFor([small, large], { cycleNo, amountCent }, 'fresh');
    expect([keyFor(1, 300), keyFor(1, 1_500), keyFor(1, 301), keyFor(2, 300)]).toEqual([
      'small',
      'large',
      'fresh',
      'fresh',
    ]);
  });

  it('is cleared only by an answer, such as a refusal; not by a fault, an abort or a timeout', () => {
    const isAnswer = (status: number) => requests.isAnswer(new Problem(status, '', ''));
    expect([400, 403, 409, 422, 429].map(isAnswer)).toEqual([true, true, true, true, true]);
    expect([200, 408, 500, 502, 503].map(isAnswer)).toEqual([false, false, false, false, false]);
    expect(requests.isAnswer(new Unreachable('gone'))).toBe(false);
  });

  it('is shown as unanswered only while no tab has its answer; one of another tab is named as such', () => {
    const said = (origin: string, isKept: boolean, hasArrived: boolean) =>
      requests.describeRequest({ ...small, origin }, { isKept, hasArrived });
    expect([said('here', false, false), said('here', true, true)]).toEqual(['unanswered', 'arrived']);
    expect([said('before', true, false), said('before', true, true)]).toEqual(['unanswered', 'arrived']);
    expect([said('before', false, true), said('elsewhere', true, false), said('elsewhere', false, true)]).toEqual([
      'elsewhere',
      'elsewhere',
      'elsewhere',
    ]);
    // If the request of the other tab was refused, the page says nothing about that request.
    expect([said('before', false, false), said('elsewhere', false, false)]).toEqual([undefined, undefined]);
  });

  it('does not break a browser without storage', () => {
    vi.stubGlobal('localStorage', undefined);
    requests.keepUnanswered(ann, small);
    requests.forgetUnanswered(ann, small);
    expect(requests.findUnanswered(ann)).toEqual([]);
  });
});

const { readProblem } = await importPage('api', 'problem.ts');
const { problemText } = await importPage('parts', 'problem-text.ts');

it('shows that an upload was too slow, in both languages, also if the server or a proxy ended it', async () => {
  const textsOf = async (body: object) => {
    const problem = await readProblem(
      new Response(JSON.stringify(body), { status: 408, statusText: 'Request Timeout' }),
    );
    return ['en', 'zh'].map((language) => problemText(problem, language));
  };
  const [, title] = PROBLEM_TITLES['too-slow'];
  const zh = '上传速度过慢，已中断，请在网络较好时重试';
  expect(await textsOf({ code: 'too-slow', title, values: [] })).toEqual([title, zh]);
  expect(await textsOf({ code: '400001' })).toEqual(['Request Timeout', zh]);
});

const { foldPlannedPushes, foldPushes } = await importPage('pages', 'order', 'timeline', 'fold-pushes.ts');

it('folds past pushes under their event, and those of unlisted events under the latest of them', () => {
  const push = (eventId: string, at: string) => ({ kind: 'push', when: 'past', at, data: { eventId } });
  const event = { kind: 'event', when: 'past', at: '1', data: { eventId: '7' } };
  const [told, first, second, third] = [push('7', '2'), push('3', '5'), push('4', '4'), push('3', '3')];
  expect(foldPushes([first, second, third, told, event])).toEqual([
    { ...first, pushes: [second, third], event: undefined },
    { ...event, pushes: [told], event: undefined },
  ]);
});

describe('planned pushes of an order', () => {
  const planned = (kind: string, at: string) => ({ kind, at: `2026-03-01 ${at}:00`, pushes: [] });
  const debit = planned('next', '23:00');
  const pushes = ['12:30', '12:20', '12:10'].map((at) => planned('push', at));

  it('are folded under the next one, which stays below the next step', () => {
    const [, , next] = pushes;
    expect(foldPlannedPushes([debit, ...pushes])).toEqual([debit, { ...next, later: pushes.slice(0, 2) }]);
  });

  it('stay as they are if there is only one, or none', () => {
    expect(foldPlannedPushes([debit, pushes[0]])).toEqual([debit, { ...pushes[0], later: [] }]);
    expect(foldPlannedPushes([debit])).toEqual([debit]);
  });
});
