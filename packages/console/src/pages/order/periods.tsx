import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';
import type { Benefit, Order, OrderAnswer, Period } from '../../api/order-types.ts';
import { type Column, DataTable, PHONE } from '../../parts/data-table.tsx';
import { Money, moneyText } from '../../parts/money.tsx';
import { Section } from '../../parts/page.tsx';
import { Status, Tag, type Tone } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { findFailedTry } from './failed-try.ts';
import styles from './order.module.css';
import { sumStarted } from './started-refunds.ts';
import { useBenefitTexts, useTexts } from './texts.ts';
import { WaitingRefunds } from './waiting-refunds.tsx';

const SHOWN_AT_FIRST = 6;

interface PeriodsSectionProps {
  readonly shown: OrderAnswer;
  /** The period that the timeline is about, when it is about one. */
  readonly chosen: string | undefined;
  onChoose(period: string | undefined): void;
}

export function PeriodsSection({ shown, chosen, onChoose }: PeriodsSectionProps) {
  const t = useTexts();
  const [isWhole, setWhole] = useState(false);
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false });
  const periods = shown.order.payments.toReversed();
  /** Why a debit failed, and what is being refunded or waits to be. */
  const besides = (period: Period) => {
    const reason = findFailedTry(period)?.reason;
    const refunds = shown.waitingRefunds.filter(({ cycleNo }) => cycleNo === period.cycleNo);
    const startedCent = sumStarted(period.refunds);
    return reason || startedCent > 0 || refunds.length > 0 ? (
      <div className={styles.besides}>
        {reason ? <span title={t('why')}>{reason}</span> : null}
        {startedCent > 0 ? <Tag tone="progress">{t('refundStarted', { amount: moneyText(startedCent) })}</Tag> : null}
        <WaitingRefunds refunds={refunds} />
      </div>
    ) : null;
  };
  const columns: readonly Column<Period>[] = [
    { id: 'no', header: t('period'), cell: ({ cycleNo }) => <span className="figures">{cycleNo}</span> },
    {
      id: 'status',
      header: t('status'),
      cell: (period) => (
        <>
          <Status of="payment" value={period.paymentStatus} />
          {isPhone ? null : besides(period)}
        </>
      ),
      inCard: 'aside',
    },
    // A card has no room for it beside its title.
    ...(isPhone ? [{ id: 'besides', header: t('why'), cell: besides, inCard: 'text' } as const] : []),
    { id: 'due', header: t('due'), cell: ({ expectPayTime }) => <Time value={expectPayTime} /> },
    { id: 'paidAt', header: t('paidAt'), cell: ({ paidAt }) => <Time value={paidAt} /> },
    {
      id: 'amount',
      header: t('amount'),
      align: 'end',
      cell: ({ amountCent, refundAmountCent }) => (
        <>
          <Money cents={amountCent} />
          {refundAmountCent > 0 ? <span className="figures quiet"> −{moneyText(refundAmountCent)}</span> : null}
        </>
      ),
    },
    {
      id: 'tries',
      header: t('tries'),
      align: 'end',
      inCard: 'none',
      cell: ({ attempts }) => <span className="figures">{attempts.length || '–'}</span>,
    },
    {
      id: 'benefits',
      header: t('benefits'),
      align: 'end',
      inCard: 'none',
      cell: ({ benefits }) =>
        benefits.length === 0 ? (
          <span className="quiet">–</span>
        ) : (
          <span className="figures quiet">
            {t('claimed', {
              claimed: benefits.filter(({ claimedAt }) => claimedAt !== null).length,
              total: benefits.length,
            })}
          </span>
        ),
    },
  ];
  return (
    <Section title={t('periods')} hint={periods.length > 0 ? t('periodHint') : t('noPeriods')}>
      {periods.length > 0 ? (
        <DataTable
          caption={t('periodsCaption')}
          columns={columns}
          rows={isWhole ? periods : periods.slice(0, SHOWN_AT_FIRST)}
          rowKey={({ cycleNo }) => String(cycleNo)}
          onOpen={({ cycleNo }) => onChoose(chosen === String(cycleNo) ? undefined : String(cycleNo))}
        />
      ) : null}
      <ShowAll count={periods.length} isWhole={isWhole} onShow={() => setWhole(true)} />
    </Section>
  );
}

const BENEFIT_TONES: Readonly<Record<string, Tone>> = {
  ISSUED: 'progress',
  CLAIMED: 'positive',
  PENDING: 'waiting',
  REVOKED: 'neutral',
  EXPIRED: 'neutral',
};

export function BenefitsSection({ order }: { readonly order: Order }) {
  const t = useTexts();
  const statusText = useBenefitTexts();
  const [isWhole, setWhole] = useState(false);
  const benefits = order.payments.toReversed().flatMap((period) => period.benefits);
  if (benefits.length === 0)
    return (
      <Section title={t('benefits')}>
        <p className="quiet small">{t('noBenefits')}</p>
      </Section>
    );
  const statusOf = ({ status, codeStatus }: Benefit) => (codeStatus === 'PENDING' ? 'PENDING' : status);
  const columns: readonly Column<Benefit>[] = [
    { id: 'name', header: t('benefit'), cell: ({ name, benefitCode }) => <span title={benefitCode}>{name}</span> },
    {
      id: 'period',
      header: t('period'),
      align: 'end',
      cell: ({ cycleNo }) => <span className="figures">{cycleNo}</span>,
    },
    {
      id: 'status',
      header: t('status'),
      inCard: 'aside',
      cell: (benefit) => (
        <Tag tone={BENEFIT_TONES[statusOf(benefit)] ?? 'neutral'}>
          {statusText(statusOf(benefit) as Parameters<typeof statusText>[0])}
        </Tag>
      ),
    },
    {
      id: 'value',
      header: t('value'),
      align: 'end',
      inCard: 'none',
      cell: ({ faceValueCent }) => <Money cents={faceValueCent} />,
    },
    { id: 'claimed', header: t('claimedAt'), cell: ({ claimedAt }) => <Time value={claimedAt} /> },
    { id: 'expires', header: t('expires'), align: 'end', cell: ({ expiresAt }) => <Time value={expiresAt} /> },
  ];
  return (
    <Section title={t('benefits')}>
      <DataTable
        caption={t('benefitsCaption')}
        columns={columns}
        rows={isWhole ? benefits : benefits.slice(0, SHOWN_AT_FIRST)}
        rowKey={({ cycleNo, benefitCode, issuedAt, claimNo }) => `${cycleNo} ${benefitCode} ${issuedAt} ${claimNo}`}
      />
      <ShowAll count={benefits.length} isWhole={isWhole} onShow={() => setWhole(true)} />
    </Section>
  );
}

interface ShowAllProps {
  readonly count: number;
  readonly isWhole: boolean;
  onShow(): void;
}

function ShowAll({ count, isWhole, onShow }: ShowAllProps) {
  const t = useTexts();
  if (isWhole || count <= SHOWN_AT_FIRST) return null;
  return (
    <div>
      <Button variant="subtle" size="compact-sm" onClick={onShow}>
        {t('showAll', { count })}
      </Button>
    </div>
  );
}
