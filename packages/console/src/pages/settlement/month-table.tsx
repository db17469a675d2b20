import { Button, Text, UnstyledButton } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { places } from '../../address/places.ts';
import type { SettlementMonth } from '../../api/types.ts';
import { ChevronDownIcon, ChevronRightIcon } from '../../icons/icons.tsx';
import { type Column, DataTable } from '../../parts/lists/data-table.tsx';
import { useIsPhone } from '../../parts/use-is-phone.ts';
import { countText, moneyText } from '../../parts/values/money.tsx';
import { PlaceLink } from '../../parts/values/place-link.tsx';
import { useTexts } from './texts.ts';

type Sums = SettlementMonth['totals'];

/** A row of the table: a channel, one of its products, or the total. */
interface Line {
  readonly key: string;
  readonly name: ReactNode;
  readonly sums: Sums;
  /** Absent for a product. */
  readonly laterCent?: number;
  readonly fees?: { readonly feeCent: number; readonly shareCent: number } | null;
  readonly payableCent?: number | null;
  /** The page with the payments and refunds of a channel. */
  readonly linesOf?: string | undefined;
  readonly isTotal?: boolean;
}

interface MonthTableProps {
  readonly caption: string;
  readonly month: SettlementMonth;
}

/**
 * Shows one row per channel, and a row with the total. A channel's row expands to the rows of its products. Channels
 * without activity are hidden until the operator asks for them.
 */
export function MonthTable({ caption, month }: MonthTableProps) {
  const t = useTexts();
  const isPhone = useIsPhone();
  const [opened, setOpened] = useState<readonly string[]>([]);
  const [showsIdle, setShowsIdle] = useState(false);
  const idle = month.channels.filter(isIdle);
  const toggle = (appId: string) =>
    setOpened(opened.includes(appId) ? opened.filter((one) => one !== appId) : [...opened, appId]);
  const shown = month.channels.filter((channel) => showsIdle || !isIdle(channel));
  const lines = shown.flatMap(({ appId, name, laterCent, products, fees, payableCent, ...sums }): readonly Line[] => {
    const isOpen = opened.includes(appId);
    const ofProducts = products.map((product) => ({
      key: `${appId} ${product.productCode} ${product.settlementMode}`,
      name: <ProductName {...product} />,
      sums: product,
    }));
    const line = {
      key: appId,
      name: products.length === 0 ? name : <Opener name={name} isOpen={isOpen} onToggle={() => toggle(appId)} />,
      sums,
      laterCent,
      fees,
      payableCent,
      linesOf: products.length === 0 ? undefined : places.settlementLines(month.month, appId),
    };
    return [line, ...(isOpen ? ofProducts : [])];
  });
  const { totals, laterCent, feeCent, shareCent, payableCent } = month;
  const fees = feeCent === null || shareCent === null ? null : { feeCent, shareCent };
  const total: Line = { key: 'total', name: t('total'), sums: totals, laterCent, fees, payableCent, isTotal: true };
  const amount = (
    id: 'collected' | 'refunded' | 'billed' | 'later' | 'net' | 'fee' | 'share' | 'payable',
    of: (line: Line) => Amount,
  ) => ({
    id,
    header: t(id),
    align: 'end' as const,
    cell: (line: Line) => {
      const { cents, counted, count = 0 } = of(line);
      return (
        <Text span inherit className="figures" fw={line.isTotal ? 600 : 400}>
          {cents ? moneyText(cents) : <span className="quiet">–</span>}
          {counted && count > 0 ? (
            <Text span display="block" fz="xs" c="dimmed">
              {t(counted, { count: countText(count) })}
            </Text>
          ) : null}
        </Text>
      );
    },
  });
  const columns: readonly Column<Line>[] = [
    {
      id: 'channel',
      header: t('channel'),
      grows: true,
      cell: ({ name, isTotal }) => (isTotal ? <strong>{name}</strong> : name),
    },
    amount('collected', ({ sums }) => ({ cents: sums.collectedCent, counted: 'count', count: sums.collectedCount })),
    amount('refunded', ({ sums }) => ({ cents: -sums.refundedCent, counted: 'refunds', count: sums.refundedCount })),
    amount('billed', ({ sums }) => ({ cents: sums.billedCent, counted: 'periods', count: sums.billedCount })),
    amount('later', ({ laterCent }) => ({ cents: laterCent })),
    amount('net', ({ sums, laterCent: later = 0 }) => ({ cents: sums.collectedCent - sums.refundedCent + later })),
    ...(fees
      ? [
          amount('fee', (line) => ({ cents: line.fees?.feeCent })),
          amount('share', (line) => ({ cents: line.fees?.shareCent })),
          amount('payable', ({ payableCent: cents = 0 }) => ({
            cents: Math.abs(cents ?? 0),
            counted: (cents ?? 0) < 0 ? 'byChannel' : 'toChannel',
            count: Math.abs(cents ?? 0),
          })),
        ]
      : []),
    {
      id: 'lines',
      header: t('showLines'),
      hidesHeader: true,
      align: 'end',
      inCard: 'text',
      cell: ({ linesOf }) => (linesOf ? <PlaceLink to={linesOf}>{t('showLines')}</PlaceLink> : null),
    },
  ];
  return (
    <div>
      <DataTable
        caption={caption}
        columns={columns}
        rows={isPhone ? [total, ...lines] : [...lines, total]}
        rowKey={({ key }) => key}
      />
      {idle.length > 0 ? (
        <Button variant="subtle" color="gray" size="xs" px={8} mt={8} onClick={() => setShowsIdle(!showsIdle)}>
          {showsIdle ? t('hideIdle') : t('idle', { count: idle.length })}
        </Button>
      ) : null}
    </div>
  );
}

const isIdle = ({ products, laterCent, later }: SettlementMonth['channels'][number]): boolean =>
  products.length === 0 && laterCent === 0 && Object.values(later).every((value) => value === 0);

interface Amount {
  readonly cents: number | undefined;
  readonly counted?: 'count' | 'refunds' | 'periods' | 'toChannel' | 'byChannel';
  readonly count?: number;
}

interface OpenerProps {
  readonly name: string;
  readonly isOpen: boolean;
  onToggle(): void;
}

function Opener({ name, isOpen, onToggle }: OpenerProps) {
  const t = useTexts();
  const Icon = isOpen ? ChevronDownIcon : ChevronRightIcon;
  return (
    <UnstyledButton fz="inherit" aria-expanded={isOpen} title={t('showProducts', { name })} onClick={onToggle}>
      <Icon size={14} style={{ marginInlineEnd: 6, verticalAlign: '-2px' }} />
      {name}
    </UnstyledButton>
  );
}

type ProductNameProps = Pick<SettlementMonth['channels'][number]['products'][number], 'productCode' | 'settlementMode'>;

function ProductName({ productCode, settlementMode }: ProductNameProps) {
  const t = useTexts();
  const mode =
    settlementMode === 'SVC_DEDUCT' || settlementMode === 'CHANNEL_COLLECT' ? t(settlementMode) : settlementMode;
  return (
    <Text span display="block" inherit ps={20}>
      <span className="mono">{productCode}</span>
      <Text span display="block" fz="xs" c="dimmed">
        {mode}
      </Text>
    </Text>
  );
}
