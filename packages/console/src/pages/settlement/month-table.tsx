import { Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Fragment, type ReactNode, useState } from 'react';
import type { SettlementMonth } from '../../api/types.ts';
import { ChevronRightIcon } from '../../icons/icons.tsx';
import dataTable from '../../parts/data-table.module.css';
import { PHONE } from '../../parts/data-table.tsx';
import { countText, Money } from '../../parts/money.tsx';
import styles from './settlement.module.css';
import { useTexts } from './texts.ts';

type ChannelMonth = SettlementMonth['channels'][number];
type Sums = SettlementMonth['totals'];

interface MonthTableProps {
  readonly caption: string;
  readonly month: SettlementMonth;
}

interface Cell {
  readonly id: string;
  readonly header: string;
  readonly value: ReactNode;
}

/** The figures of a line, in the order of the columns. `later` is not known of a product. */
function useCells() {
  const t = useTexts();
  const count = (key: 'count' | 'refunds' | 'periods', value: number) =>
    value === 0 ? null : <span className={styles.count}>{t(key, { count: countText(value) })}</span>;
  return (sums: Sums, later: number | undefined): readonly Cell[] => {
    const money = (id: string, header: string, cents: number, counted: ReactNode): Cell => ({
      id,
      header,
      value: (
        <>
          {cents === 0 ? <span className="quiet">–</span> : <Money cents={cents} />}
          {counted}
        </>
      ),
    });
    return [
      money('collected', t('collected'), sums.collectedCent, count('count', sums.collectedCount)),
      money('refunded', t('refunded'), -sums.refundedCent, count('refunds', sums.refundedCount)),
      money('billed', t('billed'), sums.billedCent, count('periods', sums.billedCount)),
      money('later', t('later'), later ?? 0, null),
      money('net', t('net'), sums.collectedCent - sums.refundedCent + (later ?? 0), null),
    ];
  };
}

/** One line for each channel, its products below it when they are asked for, and the sum of all. */
export function MonthTable(props: MonthTableProps) {
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false });
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = (appId: string) => {
    const changed = new Set(opened);
    if (!changed.delete(appId)) changed.add(appId);
    setOpened(changed);
  };
  return isPhone ? (
    <Cards {...props} opened={opened} onToggle={toggle} />
  ) : (
    <Table {...props} opened={opened} onToggle={toggle} />
  );
}

interface OpenableProps extends MonthTableProps {
  readonly opened: ReadonlySet<string>;
  onToggle(appId: string): void;
}

function Table({ caption, month, opened, onToggle }: OpenableProps) {
  const t = useTexts();
  const cellsOf = useCells();
  const totals = cellsOf(month.totals, month.laterCent);
  return (
    <div className={dataTable.scroll}>
      <table className={styles.table}>
        <caption className="only-read">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{t('channel')}</th>
            {totals.map(({ id, header }) => (
              <th key={id} scope="col">
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {month.channels.map((channel) => (
            <Fragment key={channel.appId}>
              <tr>
                <th scope="row">
                  <Opener channel={channel} isOpen={opened.has(channel.appId)} onToggle={onToggle} />
                </th>
                {cellsOf(channel, channel.laterCent).map(({ id, value }) => (
                  <td key={id}>{value}</td>
                ))}
              </tr>
              {opened.has(channel.appId)
                ? channel.products.map((product) => (
                    <tr key={`${product.productCode} ${product.settlementMode}`} className={styles.product}>
                      <th scope="row">
                        <ProductName product={product} />
                      </th>
                      {cellsOf(product, undefined).map(({ id, value }) => (
                        <td key={id}>{id === 'later' ? null : value}</td>
                      ))}
                    </tr>
                  ))
                : null}
            </Fragment>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{t('total')}</th>
            {totals.map(({ id, value }) => (
              <td key={id}>{value}</td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function Cards({ caption, month, opened, onToggle }: OpenableProps) {
  const t = useTexts();
  const cellsOf = useCells();
  const lines = (cells: readonly Cell[]) => (
    <dl className={dataTable.lines}>
      {cells.map(({ id, header, value }) => (
        <div key={id}>
          <dt>{header}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
  return (
    <ul className={dataTable.cards} aria-label={caption}>
      <li className={dataTable.card}>
        <Text span inherit fw={600}>
          {t('total')}
        </Text>
        {lines(cellsOf(month.totals, month.laterCent))}
      </li>
      {month.channels.map((channel) => (
        <li key={channel.appId} className={dataTable.card}>
          <Opener channel={channel} isOpen={opened.has(channel.appId)} onToggle={onToggle} />
          {lines(cellsOf(channel, channel.laterCent))}
          {opened.has(channel.appId)
            ? channel.products.map((product) => (
                <div key={`${product.productCode} ${product.settlementMode}`} className={styles.productCard}>
                  <ProductName product={product} />
                  {lines(cellsOf(product, undefined).filter(({ id }) => id !== 'later'))}
                </div>
              ))
            : null}
        </li>
      ))}
    </ul>
  );
}

interface OpenerProps {
  readonly channel: ChannelMonth;
  readonly isOpen: boolean;
  onToggle(appId: string): void;
}

function Opener({ channel, isOpen, onToggle }: OpenerProps) {
  const t = useTexts();
  if (channel.products.length === 0) return channel.name;
  return (
    <button
      type="button"
      className={styles.opener}
      aria-expanded={isOpen}
      title={t('showProducts', { name: channel.name })}
      onClick={() => onToggle(channel.appId)}
    >
      <ChevronRightIcon size={14} />
      {channel.name}
    </button>
  );
}

function ProductName({ product }: { readonly product: ChannelMonth['products'][number] }) {
  const t = useTexts();
  const { productCode, settlementMode } = product;
  const mode =
    settlementMode === 'SVC_DEDUCT' || settlementMode === 'CHANNEL_COLLECT' ? t(settlementMode) : settlementMode;
  return (
    <>
      <span className="mono">{productCode}</span>
      <span className={styles.count}>{mode}</span>
    </>
  );
}
