import type { Static } from '@perennial/wire';
import { type FeeTerms, listTermsOf, storeTerms } from '../../settlement/channel-fees-sql.js';
import { listClosedMonths, lockClosing } from '../../settlement/closed-months-sql.js';
import { type Operator, refusal } from '../operator.js';
import { changeChannel, requireChannelView } from '../provisioning/channel-change.js';
import { requireInteger } from '../rules.js';
import type { feesRequest } from '../schemas/books.js';
import type { Asked } from '../schemas/parts.js';
import { requireMonth } from './months.js';

/** Returns the fees of a channel, the latest month first. */
export async function listChannelFees({ database }: Operator, { appId }: { readonly appId: string }) {
  const { channelId } = await requireChannelView(database, appId);
  return (await listTermsOf(database, Number(channelId))).map(({ channelId: _, ...terms }) => terms);
}

const MAX_BASIS_POINTS = 10_000;
const MAX_FIXED_CENT = 100_000;

/**
 * Sets the fee and the share of a channel from a month on. The month must be open. Holds the lock of the closing, so a
 * month is closed either with the old terms or with the new ones.
 */
export async function setChannelFees(
  operator: Operator,
  { appId, ...input }: Asked<Static<typeof feesRequest>> & { readonly appId: string },
) {
  const { fromMonth } = input;
  requireMonth(fromMonth);
  const to: FeeTerms = {
    fromMonth,
    feeBasisPoints: requireInteger('the fee in basis points', input.feeBasisPoints, 0, MAX_BASIS_POINTS),
    feeFixedCent: requireInteger('the fixed fee in cents', input.feeFixedCent, 0, MAX_FIXED_CENT),
    shareBasisPoints: requireInteger('the share in basis points', input.shareBasisPoints, 0, MAX_BASIS_POINTS),
  };
  const { changed } = await changeChannel(operator, appId, 'channel.set-fees', async (tx, { channelId }) => {
    await lockClosing(tx);
    const closed = (await listClosedMonths(tx)).findLast(({ month }) => month >= fromMonth);
    if (closed) {
      throw refusal('fees-month-closed')`${closed.month} is closed and keeps its fees; set them from a later month on`;
    }
    const all = await listTermsOf(tx, channelId);
    const former = all.find((one) => one.fromMonth <= fromMonth);
    const from = former ? pickTerms(former) : null;
    if (from && JSON.stringify({ ...from, fromMonth }) === JSON.stringify(to)) return undefined;
    await storeTerms(tx, { channelId, ...to, setBy: operator.actor });
    return { from, to };
  });
  return { fees: await listChannelFees(operator, { appId }), changed };
}

const pickTerms = ({ fromMonth, feeBasisPoints, feeFixedCent, shareBasisPoints }: FeeTerms): FeeTerms => ({
  ...{ fromMonth, feeBasisPoints, feeFixedCent, shareBasisPoints },
});
