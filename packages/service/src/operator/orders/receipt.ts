import { createAmountFormat, DEFAULT_CURRENCY } from '@perennial/wire/currency';
import { createChannelRegistry } from '../../catalog/channels/channel-registry.js';
import { renderReceipt } from '../../redeem/page/receipt.js';
import { readReceipt } from '../../redeem/store/payments-sql.js';
import { en } from '../../redeem/texts/en.js';
import { zh } from '../../redeem/texts/zh.js';
import type { Operator } from '../operator.js';
import { createNotFound } from '../rules.js';
import { requireOrder } from './show-order.js';

/** Returns the receipt of a paid period as HTML, the same that the user sees. */
export async function showReceipt(
  { database, vault, currency = DEFAULT_CURRENCY }: Operator,
  { orderNo, cycleNo, lang }: { readonly orderNo: string; readonly cycleNo: number; readonly lang: 'en' | 'zh' },
): Promise<string> {
  const order = await requireOrder(database, { orderNo });
  const channel = await createChannelRegistry(database, vault).getById(order.channelId);
  const read = await readReceipt(database, order.channelId, order.orderNo, cycleNo);
  const frame = { texts: { en, zh }[lang], money: createAmountFormat(currency, lang === 'en' ? 'en-GB' : 'zh-CN') };
  const page = read && renderReceipt(frame, { channel, read });
  if (!page) throw createNotFound('receipt', `${orderNo}-${cycleNo}`);
  return page;
}
