import { describe, expect, it } from 'vitest';
import { importPage } from './page-source.js';

/** What the pages make of what is typed and of what the service answers, without a browser. */

const { parseYuan, yuanText } = await importPage<{
  parseYuan(text: string): number | undefined;
  yuanText(cents: number): string;
}>('pages', 'order', 'yuan.ts');

describe('an amount that somebody types', () => {
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
    expect(parseYuan(text)).toBe(cents);
  });

  it.each([
    ...['1,5', '1,50', '12,34.50', '1,2345', '1234,567', ',5', '1,', '1,234,', '1.5.0', '1.234', '.5', '5.', ''],
    ...['-1', '+1', '1e3', '0x10', '１２', '19.90 yuan', '1 234', '1234567890'],
  ])('%s is none: it is asked again rather than guessed at', (text) => {
    expect(parseYuan(text)).toBeUndefined();
  });

  it('is shown as it is typed', () => {
    expect(yuanText(1990)).toBe('19.90');
    expect(parseYuan(yuanText(4_321_007))).toBe(4_321_007);
  });
});

interface Typed {
  readonly text: string;
  readonly isEntered: boolean;
}
const { typeAhead, NOTHING_TYPED } = await importPage<{
  typeAhead(before: Typed, key: object): Typed | undefined;
  NOTHING_TYPED: Typed;
}>('search', 'typed-ahead.ts');

it('keys before there is a field are text, Backspace takes one back, Enter counts when it is the last; shortcuts are none', () => {
  const type = (...keys: readonly string[]) =>
    keys.reduce<Typed>((typed, key) => typeAhead(typed, { key }) ?? typed, NOTHING_TYPED);
  expect(type('R', '1', ' ', '7')).toEqual({ text: 'R1 7', isEntered: false });
  expect(type('1', '张', 'Backspace', '2', 'Shift', 'Tab', 'Enter')).toEqual({ text: '12', isEntered: true });
  expect(type('1', 'Enter', '2')).toEqual({ text: '12', isEntered: false });
  expect(type('Backspace')).toEqual(NOTHING_TYPED);
  for (const held of ['ctrlKey', 'metaKey', 'altKey', 'isComposing']) {
    expect(typeAhead(NOTHING_TYPED, { key: 'a', [held]: true })).toBeUndefined();
  }
});

interface Entry {
  readonly kind: string;
  readonly when: string;
  readonly title: string;
  readonly data: unknown;
}
const { foldPushes } = await importPage<{
  foldPushes(timeline: readonly Entry[]): (Entry & { pushes: readonly Entry[]; event?: Entry })[];
}>('pages', 'order', 'fold-pushes.ts');

it('the pushes of an event stand under it; one to come stays and knows its event, and so does one without', () => {
  const entry = (kind: string, title: string, eventId?: string, when = 'past'): Entry => {
    return { kind, when, title, data: eventId === undefined ? null : { eventId } };
  };
  const folded = foldPushes([
    entry('push', 'to come', '7', 'future'),
    entry('push', 'third', '7'),
    entry('push', 'of an older event', '1'),
    entry('push', 'second', '7'),
    entry('note', 'note'),
    entry('push', 'of another', '8-2'),
    entry('event', 'another', '8-2'),
    entry('push', 'first', '7'),
    entry('event', 'event', '7'),
  ]);
  expect(folded.map(({ title, pushes, event }) => [title, pushes.map((push) => push.title), event?.title])).toEqual([
    ['to come', [], 'event'],
    ['of an older event', [], undefined],
    ['note', [], undefined],
    ['another', ['of another'], undefined],
    ['event', ['third', 'second', 'first'], undefined],
  ]);
});
