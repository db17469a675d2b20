import { places } from '../../../address/places.ts';
import type { WaitingRefund } from '../../../api/order-types.ts';
import { moneyText } from '../../../parts/values/money.tsx';
import { PlaceLink } from '../../../parts/values/place-link.tsx';
import { Tag } from '../../../parts/values/status.tsx';
import { useTexts } from '../texts.ts';

/** Shows the amounts of refunds that wait for approval. Each links to its approval, or to its bulk run. */
export function WaitingRefunds({ refunds }: { readonly refunds: readonly WaitingRefund[] }) {
  const t = useTexts();
  return refunds.map(({ amountCent, approvalId, runId, cycleNo, requestedAt }) => (
    <PlaceLink
      key={`${cycleNo} ${approvalId} ${runId} ${requestedAt}`}
      to={runId === null ? places.approvals({ open: approvalId }) : places.bulkRun(runId)}
    >
      <Tag tone="waiting">
        {t(runId === null ? 'refundWaits' : 'refundWaitsInRun', { amount: moneyText(amountCent) })}
      </Tag>
    </PlaceLink>
  ));
}
