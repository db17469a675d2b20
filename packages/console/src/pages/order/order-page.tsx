import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useFilters } from '../../address/filters.ts';
import { api } from '../../api/client.ts';
import type { OrderAnswer } from '../../api/order-types.ts';
import { ClockIcon } from '../../icons/icons.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { moneyText } from '../../parts/money.tsx';
import { Page } from '../../parts/page.tsx';
import { Broken, Loading } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { agoText, isElsewhere, momentOf, timeText, VIEWERS_ZONE } from '../../parts/time-text.ts';
import { AgreementSection, DetailsSection } from './details.tsx';
import { findFailedTry } from './failed-try.ts';
import { ORDER_FILTERS } from './filters.ts';
import { useNextWords } from './next-step.ts';
import { NotesSection } from './notes.tsx';
import styles from './order.module.css';
import { OrderActions } from './order-actions.tsx';
import { BenefitsSection, PeriodsSection } from './periods.tsx';
import { sumStarted } from './started-refunds.ts';
import { useTexts } from './texts.ts';
import { Timeline } from './timeline.tsx';

export default function OrderPage() {
  const t = useTexts();
  const { orderNo = '' } = useParams({ strict: false }) as { readonly orderNo?: string };
  const filters = useFilters(ORDER_FILTERS);
  const found = useQuery({
    queryKey: ['/orders', orderNo],
    queryFn: ({ signal }) => api.get('/orders/{orderNo}', { orderNo }, signal),
    // What an institution or a channel answers comes by itself.
    refetchInterval: 15_000,
  });
  const above = <Link to="/orders">{t('orders')}</Link>;
  const shown = found.data;
  if (!shown)
    return (
      <Page title={t('orderTitle', { orderNo })} above={above}>
        {found.error ? <Broken error={found.error} onRetry={() => void found.refetch()} /> : <Loading />}
      </Page>
    );
  const { order } = shown;
  return (
    <Page
      title={t('orderTitle', { orderNo: order.orderNo })}
      above={above}
      aside={
        <>
          <span className={styles.copy}>
            <Copyable value={order.orderNo}>{''}</Copyable>
          </span>
          <Status of="order" value={order.orderStatus} />
        </>
      }
      actions={<OrderActions shown={shown} />}
    >
      <Next shown={shown} />
      <Sums shown={shown} />
      <div className={styles.columns}>
        <div className={styles.main}>
          <PeriodsSection shown={shown} chosen={filters.values.period} onChoose={(period) => filters.set({ period })} />
          <Timeline timeline={shown.timeline} isCut={shown.timelineIsCut} filters={filters} />
          <BenefitsSection order={order} />
        </div>
        <aside className={styles.aside}>
          <DetailsSection shown={shown} />
          <AgreementSection order={order} />
          <NotesSection shown={shown} />
        </aside>
      </div>
    </Page>
  );
}

/** What happens next by itself, in words, and why the last debit failed if it did: the caller asks that first. */
function Next({ shown }: { readonly shown: OrderAnswer }) {
  const t = useTexts();
  const wordsOf = useNextWords();
  const { next, order } = shown;
  const latest = order.payments.at(-1);
  const failed = latest && findFailedTry(latest);
  const moment = next ? momentOf(next.at) : undefined;
  return (
    <p className={styles.next} data-planned={next !== null || undefined}>
      <ClockIcon size={18} />
      <span>
        <span className={styles.nextWords}>{wordsOf(next, order)}</span>
        {next?.amountCent ? <span className="figures"> · {moneyText(next.amountCent)}</span> : null}
        {moment ? (
          <span className={`quiet ${styles.nextTime}`}>
            {agoText(moment)}
            {isElsewhere(moment) ? ` · ${timeText(moment, VIEWERS_ZONE)} ${VIEWERS_ZONE}` : ''}
          </span>
        ) : null}
        {latest && failed?.reason ? (
          <span className={styles.why}>
            {t('whyFailed', { cycleNo: latest.cycleNo, tryNo: failed.tryNo, reason: failed.reason })}
          </span>
        ) : null}
      </span>
    </p>
  );
}

/** The money of the order, at a glance. */
function Sums({ shown }: { readonly shown: OrderAnswer }) {
  const t = useTexts();
  const { order } = shown;
  const startedCent = sumStarted(order.payments.flatMap(({ refunds }) => refunds));
  const begun = Math.max(0, ...order.payments.map(({ cycleNo }) => cycleNo));
  return (
    <dl className={styles.sums}>
      <div>
        <dt>{t('paid')}</dt>
        <dd className="figures">{moneyText(order.totalPaidAmountCent)}</dd>
      </div>
      <div>
        <dt>{t('refunded')}</dt>
        <dd className="figures" data-zero={order.totalRefundAmountCent === 0 || undefined}>
          {moneyText(order.totalRefundAmountCent)}
          {startedCent > 0 ? (
            <span className={styles.inProgress}>{t('inProgress', { amount: moneyText(startedCent) })}</span>
          ) : null}
        </dd>
      </div>
      <div>
        <dt>{t('perPeriod')}</dt>
        <dd className="figures">{moneyText(order.amountCent)}</dd>
      </div>
      <div>
        <dt>{t('period')}</dt>
        <dd className="figures">{t('periodOf', { cycleNo: begun, total: order.totalCycles })}</dd>
      </div>
    </dl>
  );
}
