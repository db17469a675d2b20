import type { OrderLine } from '../../api/order-types.ts';
import { useChannelNames, useProductNames } from '../../catalog/catalog.ts';
import type { Column } from '../../parts/data-table.tsx';
import { Money, moneyText } from '../../parts/money.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import styles from './orders.module.css';
import { useTexts } from './texts.ts';

/** What of the latest payment of an active order says more than that it is active. */
const NOTEWORTHY = new Set(['PROCESSING', 'FAIL_RETRY', 'FAIL']);

/** An order in a row. `withUser`: not on a page that is about one. */
export function useOrderColumns({ withUser }: { readonly withUser: boolean }): readonly Column<OrderLine>[] {
  const t = useTexts();
  const products = useProductNames();
  const channels = useChannelNames();
  const user: Column<OrderLine> = {
    id: 'user',
    header: t('user'),
    cell: ({ channelUserId }) => <span className={`quiet ${styles.user}`}>{channelUserId}</span>,
    inCard: 'none',
  };
  return [
    { id: 'order', header: t('order'), cell: ({ orderNo }) => <span className="figures">{orderNo}</span> },
    {
      id: 'status',
      header: t('status'),
      cell: ({ orderStatus, latestPaymentStatus }) =>
        orderStatus === 'ACTIVE' && NOTEWORTHY.has(latestPaymentStatus ?? '') ? (
          <Status of="payment" value={latestPaymentStatus} />
        ) : (
          <Status of="order" value={orderStatus} />
        ),
      inCard: 'aside',
    },
    {
      id: 'product',
      header: t('product'),
      grows: true,
      inCard: 'text',
      cell: ({ productCode, appId }) => (
        <>
          {products.of(productCode)} <span className="quiet">· {channels.of(appId)}</span>
        </>
      ),
    },
    ...(withUser ? [user] : []),
    {
      id: 'period',
      header: t('period'),
      align: 'end',
      inCard: 'none',
      cell: ({ cycleNo, totalCycles }) => (
        <span className="figures">
          {cycleNo}
          <span className="quiet">/{totalCycles}</span>
        </span>
      ),
    },
    {
      id: 'amount',
      header: t('amount'),
      align: 'end',
      cell: ({ amountCent }) => <Money cents={amountCent} />,
    },
    {
      id: 'paid',
      header: t('paid'),
      align: 'end',
      inCard: 'none',
      cell: ({ totalPaidAmountCent, totalRefundAmountCent }) => (
        <span
          title={totalRefundAmountCent > 0 ? t('refunded', { amount: moneyText(totalRefundAmountCent) }) : undefined}
        >
          <Money cents={totalPaidAmountCent} />
          {totalRefundAmountCent > 0 ? (
            <span className="figures quiet tiny"> −{moneyText(totalRefundAmountCent)}</span>
          ) : null}
        </span>
      ),
    },
    { id: 'due', header: t('due'), align: 'end', cell: ({ nextPayTime }) => <Time value={nextPayTime} /> },
    {
      id: 'created',
      header: t('created'),
      align: 'end',
      inCard: 'none',
      cell: ({ createTime }) => <Time value={createTime} />,
    },
  ];
}
