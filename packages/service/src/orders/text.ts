import { setImmediate } from 'node:timers/promises';
import type { MainOrder } from '@perennial/wire';
import { derivedPayments, derivedStatus, orderWith } from './order.js';
import type { OrderText } from './query-sql.js';

/** As many periods are made at a time: one or two ms, after which other requests have their turn. */
const PERIODS_AT_A_TIME = 500;

const RECORDS = '"paymentRecords":[';
const END = ']}';

/**
 * The order as JSON. The periods that follow from it may be 9,998, and a node that makes all of them at once answers
 * nobody else meanwhile. `serialize` is asked for the order with a stretch of them at a time, and the stretches are put
 * together behind those that were started. Quotes in a value are escaped, so the field's name is found once.
 */
export async function orderText(
  { order, started }: OrderText,
  redeemUrl: string | null,
  serialize: (order: MainOrder) => string,
): Promise<string> {
  const last = derivedStatus(order) === undefined ? order.cycleNo : order.totalCycles;
  const stretch = (from: number) => {
    const to = Math.min(from + PERIODS_AT_A_TIME - 1, last);
    return serialize(orderWith(order, derivedPayments(order, from, to), redeemUrl));
  };
  let from = order.cycleNo + 1;
  const first = stretch(from);
  const at = first.indexOf(RECORDS) + RECORDS.length;
  const records = [started, first.slice(at, -END.length)];
  for (from += PERIODS_AT_A_TIME; from <= last; from += PERIODS_AT_A_TIME) {
    await setImmediate();
    records.push(stretch(from).slice(at, -END.length));
  }
  return first.slice(0, at) + records.filter((text) => text !== '').join(',') + END;
}

const CHARACTERS_AT_A_TIME = 80_000;

/** Several orders, one after another; many short ones are made in one go, as one long stretch is. */
export async function orderTexts<One>(orders: readonly One[], textOf: (one: One) => Promise<string>): Promise<string> {
  const texts: string[] = [];
  let made = 0;
  for (const one of orders) {
    if (made >= CHARACTERS_AT_A_TIME) {
      await setImmediate();
      made = 0;
    }
    const text = await textOf(one);
    made += text.length;
    texts.push(text);
  }
  return texts.join(',');
}
