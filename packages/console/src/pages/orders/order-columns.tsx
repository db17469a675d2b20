import { useMemo } from 'react';
import type { OrderLine } from '../../api/order-types.ts';
import { useChannelNames, useProductNames } from '../../catalog/catalog.ts';
import { columnsOf } from '../../parts/lists/columns.tsx';
import type { Column } from '../../parts/lists/data-table.tsx';
import { Money, moneyText } from '../../parts/values/money.tsx';
import { Status } from '../../parts/values/status.tsx';
import { useTexts } from './texts.ts';

/** Statuses of the latest payment that are worth showing for an active order. */
const NOTEWORTHY = new Set(['PROCESSING', 'FAIL_RETRY', 'FAIL']);

const USER = { display: 'inline-block', maxWidth: 130, verticalAlign: 'bottom' } as const;
const PRODUCT = { display: 'flex', gap: '0.3em' } as const;
/** The channel keeps up to half of the width, however long the product's name is. */
const CHANNEL = { flex: 'none', maxWidth: '50%' } as const;
const PAID = { display: 'inline-block', lineHeight: 1.2 } as const;
const REFUNDED = { display: 'block', lineHeight: 1.1 } as const;

const column = columnsOf<OrderLine>();

/** Returns the columns of an order list. `withUser` is false on a user's page. */
export function useOrderColumns({ withUser }: { readonly withUser: boolean }): readonly Column<OrderLine>[] {
  const t = useTexts();
  const products = useProductNames();
  const channels = useChannelNames();
  return useMemo(() => {
    const user = column.of(
      t('user'),
      ({ channelUserId }) => (
        <span className="quiet one-line" style={USER}>
          {channelUserId}
        </span>
      ),
      { inCard: 'none' },
    );
    return [
      column.of(t('order'), ({ orderNo }) => <span className="figures">{orderNo}</span>),
      column.of(
        t('status'),
        ({ orderStatus, latestPaymentStatus }) =>
          orderStatus === 'ACTIVE' && NOTEWORTHY.has(latestPaymentStatus ?? '') ? (
            <Status of="payment" value={latestPaymentStatus} />
          ) : (
            <Status of="order" value={orderStatus} />
          ),
        { inCard: 'aside' },
      ),
      column.of(
        t('product'),
        ({ productCode, appId }) => (
          <span style={PRODUCT} title={`${products.of(productCode)} · ${channels.of(appId)}`}>
            <span className="one-line">{products.of(productCode)}</span>
            <span className="quiet one-line" style={CHANNEL}>
              · {channels.of(appId)}
            </span>
          </span>
        ),
        { grows: true, inCard: 'text' },
      ),
      ...(withUser ? [user] : []),
      column.of(
        t('period'),
        ({ cycleNo, totalCycles }) => (
          <span className="figures">
            {cycleNo}
            <span className="quiet">/{totalCycles}</span>
          </span>
        ),
        { align: 'end', inCard: 'none' },
      ),
      column.money(t('amount'), 'amountCent'),
      column.of(
        t('paid'),
        ({ totalPaidAmountCent, totalRefundAmountCent }) => (
          <>
            <span style={PAID}>
              <Money cents={totalPaidAmountCent} />
            </span>
            {totalRefundAmountCent > 0 ? (
              <span
                className="figures quiet tiny"
                style={REFUNDED}
                title={t('totalRefunded', { amount: moneyText(totalRefundAmountCent) })}
              >
                −{moneyText(totalRefundAmountCent)}
              </span>
            ) : null}
          </>
        ),
        { align: 'end', inCard: 'none' },
      ),
      column.time(t('due'), 'nextPayTime'),
      column.time(t('created'), 'createTime', { inCard: 'none' }),
    ];
  }, [t, products, channels, withUser]);
}
