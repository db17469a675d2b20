import { Box, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { orderQuery } from '../../api/catalog.ts';
import type { OrderAnswer } from '../../api/order-types.ts';
import { useAlertTexts } from '../../catalog/alert-kinds.ts';
import { useDeclineText } from '../../catalog/decline-kinds.ts';
import { AlertIcon, ClockIcon } from '../../icons/icons.tsx';
import { Sums } from '../../parts/lists/list-parts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Notice, Notices } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { Loading } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { moneyText } from '../../parts/values/money.tsx';
import { Status } from '../../parts/values/status.tsx';
import { agoText, isElsewhere, momentOf, offsetText, timeText, VIEWERS_ZONE } from '../../parts/values/time-text.ts';
import { AgreementSection, DetailsSection } from './details.tsx';
import { NotesSection } from './notes.tsx';
import styles from './order.module.css';
import { OrderActions } from './order-actions.tsx';
import { BenefitsSection, PeriodsSection } from './periods.tsx';
import { sumRefunds } from './refunds/started-refunds.ts';
import { useTexts } from './texts.ts';
import { findFailedAttempt } from './timeline/failed-attempt.ts';
import { ORDER_FILTERS } from './timeline/filters.ts';
import { useNextWords } from './timeline/next-step.ts';
import { Timeline } from './timeline/timeline.tsx';

export default function OrderPage() {
  const t = useTexts();
  const { orderNo = '' } = useParams({ strict: false }) as { readonly orderNo?: string };
  const filters = useFilters(ORDER_FILTERS);
  const found = useQuery({
    ...orderQuery(orderNo),
    // Polled, because results from institutions and answers of channels arrive at any time.
    refetchInterval: 15_000,
  });
  return (
    <Page
      title={t('orderTitle', { orderNo })}
      above={<Link to="/orders">{t('orders')}</Link>}
      aside={
        found.data ? (
          <>
            <Box component="span" fz="md" ml={-10}>
              <Copyable value={orderNo}>{''}</Copyable>
            </Box>
            <Status of="order" value={found.data.order.orderStatus} />
          </>
        ) : null
      }
      actions={found.data ? <OrderActions shown={found.data} period={filters.values.period} /> : null}
    >
      <Loaded query={found} meanwhile={<Loading />}>
        {(shown) => (
          <>
            <Troubles shown={shown} />
            <Next shown={shown} />
            <Money shown={shown} />
            <div className={styles.columns}>
              <Stack className={styles.main ?? ''} gap={20} miw={0}>
                <PeriodsSection
                  shown={shown}
                  chosen={filters.values.period}
                  onChoose={(period) => filters.set({ period })}
                />
                <Timeline timeline={shown.timeline} isCut={shown.timelineIsCut} filters={filters} />
                <BenefitsSection order={shown.order} />
              </Stack>
              <Stack component="aside" className={styles.aside} gap={20} miw={0}>
                <DetailsSection shown={shown} />
                <AgreementSection order={shown.order} />
                <NotesSection shown={shown} />
              </Stack>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Alerts that are shown until they are resolved, because the order waits until then. */
const LASTING = new Set(['institution-silent', 'pool-empty']);

/**
 * Shows the open alerts about the order, an institution that does not answer while its result is awaited, and an empty
 * pool while a claim waits for its code.
 */
function Troubles({ shown: { order } }: { readonly shown: OrderAnswer }) {
  const t = useTexts();
  const words = useAlertTexts();
  const open = order.alerts.filter(
    ({ kind, acknowledgedAt, resolvedAt }) => !resolvedAt && (!acknowledgedAt || LASTING.has(kind)),
  );
  if (open.length === 0) return null;
  return (
    <Notices label={t('alerts')}>
      {open.map(({ kind, subject, lastSeenAt }) => (
        <Notice
          key={`${kind} ${subject}`}
          to={places.alerts({ of: kind, subject, which: 'all' })}
          icon={<AlertIcon size={17} />}
          at={lastSeenAt}
        >
          <strong>{words.name(kind)}</strong> <span className="mono">{subject}</span> {words.meaning(kind)}{' '}
          {words.remedy(kind)}
        </Notice>
      ))}
    </Notices>
  );
}

/** Says what happens next and, if the last debit failed, why. Support staff look for these two facts first. */
function Next({ shown }: { readonly shown: OrderAnswer }) {
  const t = useTexts();
  const wordsOf = useNextWords();
  const { next, order } = shown;
  const latest = order.payments.at(-1);
  const failed = latest && findFailedAttempt(latest);
  const declineText = useDeclineText();
  const why = failed && declineText(failed);
  const moment = next ? momentOf(next.at) : undefined;
  return (
    <Group
      gap={10}
      wrap="nowrap"
      align="flex-start"
      p="11px 14px"
      bdrs={10}
      c={next ? 'var(--progress)' : 'inherit'}
      bg={next ? 'var(--progress-soft)' : 'var(--neutral-soft)'}
    >
      <ClockIcon size={18} style={{ flex: 'none', marginTop: 2 }} />
      <div>
        <Group gap="0 10px" align="baseline">
          <Box component="span" fw={600}>
            {wordsOf(next, order)}
          </Box>
          {next?.amountCent ? <span className="figures">{moneyText(next.amountCent)}</span> : null}
          {moment ? (
            <span className="quiet small">
              {agoText(moment)}{' '}
              {isElsewhere(moment) ? (
                <Box component="span" style={{ whiteSpace: 'nowrap' }}>
                  · {timeText(moment, VIEWERS_ZONE)} {offsetText(moment, VIEWERS_ZONE)}
                </Box>
              ) : null}
            </span>
          ) : null}
        </Group>
        {latest && failed && why ? (
          <Box mt={2} c="var(--negative)" style={{ overflowWrap: 'anywhere' }}>
            {t('whyFailed', { cycleNo: latest.cycleNo, tryNo: failed.tryNo, reason: why })}
          </Box>
        ) : null}
      </div>
    </Group>
  );
}

/** The order's totals. */
function Money({ shown: { order } }: { readonly shown: OrderAnswer }) {
  const t = useTexts();
  const startedCent = sumRefunds(
    order.payments.flatMap(({ refunds }) => refunds),
    'STARTED',
  );
  const begun = Math.max(0, ...order.payments.map(({ cycleNo }) => cycleNo));
  const refunded = moneyText(order.totalRefundAmountCent);
  return (
    <Sums
      sums={[
        [t('paid'), moneyText(order.totalPaidAmountCent)],
        [
          t('refunded'),
          <Group key="refunded" component="span" gap={8} align="baseline">
            {order.totalRefundAmountCent > 0 ? refunded : <span className="quiet">{refunded}</span>}
            {startedCent > 0 ? (
              <Box component="span" className="tiny" fw={400} lts={0} c="var(--progress)">
                {t('inProgress', { amount: moneyText(startedCent) })}
              </Box>
            ) : null}
          </Group>,
        ],
        [t('perPeriod'), moneyText(order.amountCent)],
        [t('period'), t('periodOf', { cycleNo: begun, total: order.totalCycles })],
      ]}
    />
  );
}
