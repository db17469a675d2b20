import { TotalsLine, useTotals } from '../../parts/lists/totals-line.tsx';
import { moneyText } from '../../parts/values/money.tsx';
import { useTexts } from './texts.ts';

interface ListTotalsProps {
  readonly of: 'payments' | 'refunds';
  readonly filter: Readonly<Record<string, string | undefined>>;
}

/** Shows the totals of the debits or of the refunds. */
export function ListTotals({ of, filter }: ListTotalsProps) {
  const t = useTexts();
  const [total, atLeast, exported] =
    of === 'payments'
      ? (['debitTotal', 'debitTotalAtLeast', 'debitsExported'] as const)
      : (['refundTotal', 'refundTotalAtLeast', 'refundsExported'] as const);
  return (
    <TotalsLine
      totals={useTotals(`/${of}/totals`, filter)}
      of={of}
      filter={filter}
      textsOf={({ isAtLeast, amountCent }, count) => [
        t(isAtLeast ? atLeast : total, { count }),
        [t('sum', { amount: moneyText(amountCent) })],
        t('ofThose', { count }),
      ]}
      exportedText={(count) => t(exported, { count })}
    />
  );
}
