import { Button, Stack } from '@mantine/core';
import { useState } from 'react';
import { addressOf } from '../../api/client.ts';
import type { Benefit, Order, OrderAnswer, Period } from '../../api/order-types.ts';
import { useDeclineText } from '../../catalog/decline-kinds.ts';
import { useLanguage } from '../../i18n/language.ts';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { DataTable, type DataTableProps } from '../../parts/lists/data-table.tsx';
import { Section } from '../../parts/page.tsx';
import { useIsPhone } from '../../parts/use-is-phone.ts';
import { Money, moneyText } from '../../parts/values/money.tsx';
import { Status, Tag, type Tone } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { CodeCell, RedemptionLinkButton } from './codes.tsx';
import styles from './order.module.css';
import { sumRefunds } from './refunds/started-refunds.ts';
import { WaitingRefunds } from './refunds/waiting-refunds.tsx';
import { useBenefitTexts, useTexts } from './texts.ts';
import { findFailedAttempt } from './timeline/failed-attempt.ts';

interface PeriodsSectionProps {
  readonly shown: OrderAnswer;
  /** The period to which the timeline is limited. */
  readonly chosen: string | undefined;
  onChoose(period: string | undefined): void;
}

const ofPeriod = columnsOf<Period>();

export function PeriodsSection({ shown, chosen, onChoose }: PeriodsSectionProps) {
  const t = useTexts();
  const language = useLanguage();
  const declineText = useDeclineText();
  const isPhone = useIsPhone();
  const periods = shown.order.payments.toReversed();
  /** Shows why the period's debit failed, and its refunds that are in progress or wait for approval. */
  const besides = (period: Period) => {
    const failed = findFailedAttempt(period);
    const reason = failed && declineText(failed);
    const refunds = shown.waitingRefunds.filter(({ cycleNo }) => cycleNo === period.cycleNo);
    const startedCent = sumRefunds(period.refunds, 'STARTED');
    const outsideCent = sumRefunds(period.refunds, 'OUTSIDE');
    return reason || startedCent > 0 || outsideCent > 0 || refunds.length > 0 ? (
      <Stack className="tiny" gap={3} align="flex-start" miw={110} mt={3} c="var(--negative)" style={WRAPPED}>
        {reason ? <span title={t('why')}>{reason}</span> : null}
        {startedCent > 0 ? <Tag tone="progress">{t('refundStarted', { amount: moneyText(startedCent) })}</Tag> : null}
        {outsideCent > 0 ? <Tag tone="neutral">{t('refundedOutside', { amount: moneyText(outsideCent) })}</Tag> : null}
        <WaitingRefunds refunds={refunds} />
      </Stack>
    ) : null;
  };
  const columns = [
    ofPeriod.of(t('period'), ({ cycleNo }) => <span className="figures">{cycleNo}</span>),
    ofPeriod.of(
      t('status'),
      (period) => (
        <>
          <Status of="payment" value={period.paymentStatus} />
          {isPhone ? null : besides(period)}
        </>
      ),
      { inCard: 'aside' },
    ),
    // On a phone the reason has its own line, because a card has no room for it beside the title.
    ...(isPhone ? [ofPeriod.of(t('why'), besides, { inCard: 'text' })] : []),
    ofPeriod.of(t('due'), ({ expectPayTime }) => <Time value={expectPayTime} />),
    ofPeriod.of(t('paidAt'), ({ paidAt, cycleNo }) => (
      <>
        <Time value={paidAt} />
        {paidAt === null ? null : (
          <a
            className={`tiny ${styles.receipt}`}
            href={addressOf(`/orders/${shown.order.orderNo}/periods/${cycleNo}/receipt`, { lang: language })}
            target="_blank"
            rel="noreferrer"
          >
            {t('receipt')}
          </a>
        )}
      </>
    )),
    ofPeriod.of(
      t('amount'),
      ({ amountCent, refundAmountCent }) => (
        <>
          <Money cents={amountCent} />
          {refundAmountCent > 0 ? <span className="figures quiet"> −{moneyText(refundAmountCent)}</span> : null}
        </>
      ),
      { align: 'end' },
    ),
    ofPeriod.of(t('tries'), ({ attempts }) => <span className="figures">{attempts.length || '–'}</span>, ASIDE),
    ofPeriod.of(
      t('claimedBenefits'),
      ({ benefits }) => (
        <span className="figures quiet">
          {benefits.length === 0
            ? '–'
            : t('claimed', {
                claimed: benefits.filter(({ claimedAt }) => claimedAt !== null).length,
                total: benefits.length,
              })}
        </span>
      ),
      ASIDE,
    ),
  ];
  return (
    <Section title={t('periods')} hint={periods.length > 0 ? t('periodHint') : t('noPeriods')}>
      {periods.length > 0 ? (
        <FewFirst
          caption={t('periodsCaption')}
          columns={columns}
          rows={periods}
          rowKey={({ cycleNo }) => String(cycleNo)}
          onOpen={({ cycleNo }) => onChoose(chosen === String(cycleNo) ? undefined : String(cycleNo))}
        />
      ) : null}
      {shown.comingPeriods.length > 0 ? <ComingPeriods shown={shown} /> : null}
    </Section>
  );
}

/** Lists the due times of the periods that have not begun, with the rule for short months. */
function ComingPeriods({ shown: { order, comingPeriods } }: Pick<PeriodsSectionProps, 'shown'>) {
  const t = useTexts();
  const day = Number(order.createTime.slice(8, 10));
  return (
    <details className="small">
      <summary>{t('coming', { count: comingPeriods.length })}</summary>
      {order.periodType === 'MONTH' ? (
        <p className="quiet">{t(day > 28 ? 'endOfMonth' : 'dayOfMonth', { day })}</p>
      ) : null}
      <ol className={styles.coming}>
        {comingPeriods.map(({ cycleNo, expectPayTime }) => (
          <li key={cycleNo}>
            <span className="quiet">{t('comingPeriod', { cycleNo })}</span> <Time value={expectPayTime} />
          </li>
        ))}
      </ol>
    </details>
  );
}

const WRAPPED = { whiteSpace: 'normal', overflowWrap: 'anywhere' } as const;
const ASIDE = { align: 'end', inCard: 'none' } as const;

const BENEFIT_TONES: Readonly<Record<string, Tone>> = {
  ISSUED: 'progress',
  CLAIMED: 'positive',
  PENDING: 'waiting',
};

const ofBenefit = columnsOf<Benefit>();

export function BenefitsSection({ order }: { readonly order: Order }) {
  const t = useTexts();
  const statusText = useBenefitTexts() as (status: string) => string;
  const benefits = order.payments.toReversed().flatMap((period) => period.benefits);
  const statusOf = ({ status, codeStatus }: Benefit) => (codeStatus === 'PENDING' ? 'PENDING' : status);
  const columns = [
    ofBenefit.of(
      t('benefit'),
      ({ name, benefitCode, faceValueCent }) => (
        <>
          <span title={benefitCode}>{name}</span>
          <div className="tiny quiet">
            <Money cents={faceValueCent} />
          </div>
        </>
      ),
      { grows: 'wraps' },
    ),
    ofBenefit.count(t('period'), 'cycleNo'),
    ofBenefit.of(
      t('status'),
      (benefit) => (
        <>
          <Tag tone={BENEFIT_TONES[statusOf(benefit)] ?? 'neutral'}>{statusText(statusOf(benefit))}</Tag>
          {benefit.claimedAt === null ? null : (
            <div className="tiny quiet">
              <Time value={benefit.claimedAt} />
            </div>
          )}
        </>
      ),
      { inCard: 'aside' },
    ),
    ofBenefit.time(t('expires'), 'expiresAt'),
    ofBenefit.of(t('code'), (benefit) => <CodeCell orderNo={order.orderNo} benefit={benefit} />, { inCard: 'text' }),
  ];
  return (
    <Section title={t('benefits')} actions={<RedemptionLinkButton orderNo={order.orderNo} />}>
      {benefits.length === 0 ? (
        <p className="quiet small">{t('noBenefits')}</p>
      ) : (
        <FewFirst
          caption={t('benefitsCaption')}
          columns={columns}
          rows={benefits}
          rowKey={({ cycleNo, benefitCode, issuedAt, claimNo }) => `${cycleNo} ${benefitCode} ${issuedAt} ${claimNo}`}
        />
      )}
    </Section>
  );
}

const SHOWN_AT_FIRST = 6;

/** Shows the first rows of a table, with a button that shows all rows. */
function FewFirst<Row>({ rows, ...table }: DataTableProps<Row>) {
  const t = useTexts();
  const [isWhole, setWhole] = useState(false);
  return (
    <>
      <DataTable {...table} rows={isWhole ? rows : rows.slice(0, SHOWN_AT_FIRST)} />
      {isWhole || rows.length <= SHOWN_AT_FIRST ? null : (
        <div>
          <Button variant="subtle" size="compact-sm" onClick={() => setWhole(true)}>
            {t('showAll', { count: rows.length })}
          </Button>
        </div>
      )}
    </>
  );
}
