import type { ReactNode } from 'react';
import { Copyable } from '../values/copyable.tsx';
import { Count, Money } from '../values/money.tsx';
import { Status, type StatusKind } from '../values/status.tsx';
import { Time } from '../values/time.tsx';
import type { Column } from './data-table.tsx';

type More = Pick<Column<never>, 'align' | 'grows' | 'inCard'>;
type Text = string | null;
type Figure = number | null;
/** The names of a row's fields whose values have this type. */
type FieldOf<Row, Type> = { [Name in keyof Row]-?: Row[Name] extends Type ? Name : never }[keyof Row];

/**
 * Returns factories for the columns of a list: `columnsOf<Order>().money(t('paid'), 'paidCent')`. A column's header
 * text is also its id.
 */
export function columnsOf<Row>() {
  const of = (header: string, cell: (row: Row) => ReactNode, more: More = {}): Column<Row> => ({
    id: header,
    header,
    cell,
    ...more,
  });
  return {
    of,
    text: (header: string, field: FieldOf<Row, Text>, more?: More) => of(header, (row) => row[field] as Text, more),
    /** A text column that takes the remaining width. */
    words: (header: string, textOf: (row: Row) => Text | undefined) =>
      of(
        header,
        (row) => {
          const text = textOf(row);
          return text ? <span className="quiet">{text}</span> : null;
        },
        { grows: true, inCard: 'text' },
      ),
    copyable: (header: string, field: FieldOf<Row, string>, more?: More) =>
      of(header, (row) => <Copyable value={row[field] as string} />, more),
    status: (header: string, kind: StatusKind, field: FieldOf<Row, Text>) =>
      of(header, (row) => <Status of={kind} value={row[field] as Text} />, { inCard: 'aside' }),
    count: (header: string, field: FieldOf<Row, number>, more?: More) =>
      of(header, (row) => <Count value={row[field] as number} />, { align: 'end', ...more }),
    money: (header: string, field: FieldOf<Row, Figure>, more?: More) =>
      of(header, (row) => <Money cents={row[field] as Figure} />, { align: 'end', ...more }),
    time: (header: string, field: FieldOf<Row, Text>, more?: More) =>
      of(header, (row) => <Time value={row[field] as Text} />, { align: 'end', ...more }),
  };
}
