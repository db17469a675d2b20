import { UnstyledButton } from '@mantine/core';
import { Link, type LinkProps, useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type MouseEvent, memo, type ReactNode, useRef } from 'react';
import { dictionary } from '../../i18n/dictionary.ts';
import { useIsPhone } from '../use-is-phone.ts';
import styles from './data-table.module.css';

const useTexts = dictionary({
  selectAll: ['Select all rows shown', '选择当前页全部'],
  select: ['Select {name}', '选择 {name}'],
});

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  /** Hides the header, if the cells are clear without it. Screen readers still read it. */
  readonly hidesHeader?: boolean;
  cell(row: Row): ReactNode;
  /** Set to align the content at the end of the cell, for example for numbers. */
  readonly align?: 'end';
  /**
   * Set if the column takes the remaining width and truncates its text. `third`: if it takes a third of the table, so
   * that figures are not far from a short name. `wraps`: if it does not truncate its text.
   */
  readonly grows?: boolean | 'third' | 'wraps';
  /**
   * The column's place in a card (on a phone each row is a card): as the title, at the end of the title's line, as a
   * text below, as a line with its name, or hidden.
   */
  readonly inCard?: 'title' | 'aside' | 'text' | 'line' | 'none';
}

export interface Selection {
  readonly selected: ReadonlySet<string>;
  onChange(selected: ReadonlySet<string>): void;
}

type Address = Pick<LinkProps, 'to' | 'params' | 'search'>;

export interface DataTableProps<Row> {
  /** The table's subject, for screen readers. */
  readonly caption: string;
  /** The first column identifies the row and holds the link that opens it. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  rowKey(row: Row): string;
  /** Returns the page that a row opens. */
  rowLink?(row: Row): Address;
  /** Called to open a row that has no page of its own. */
  onOpen?(row: Row): void;
  readonly selection?: Selection | undefined;
  /** Set while the rows still belong to the previous query and the next query loads. */
  readonly isRefreshing?: boolean;
}

/** A table on a desktop, cards on a phone. Tab and the arrow keys reach the rows. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const isPhone = useIsPhone();
  return isPhone ? <Cards {...props} /> : <Table {...props} />;
}

function Table<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, selection, isRefreshing } = props;
  const t = useTexts();
  const body = useRef<HTMLTableSectionElement>(null);
  const table = useTable(props);
  const count = rows.filter((row) => selection?.selected.has(rowKey(row))).length;
  return (
    <div className={styles.scroll} data-refreshing={isRefreshing || undefined} aria-busy={isRefreshing}>
      <table className={styles.table}>
        <caption className="only-read">{caption}</caption>
        <thead>
          <tr>
            {selection ? (
              <th scope="col" className={styles.check}>
                <input
                  type="checkbox"
                  className={styles.box}
                  aria-label={t('selectAll')}
                  checked={count > 0 && count === rows.length}
                  ref={(box) => {
                    if (box) box.indeterminate = count > 0 && count < rows.length;
                  }}
                  onChange={(event) => table.current.select(rows, event.currentTarget.checked)}
                />
              </th>
            ) : null}
            {columns.map(({ id, header, hidesHeader, align, grows }) => (
              <th key={id} scope="col" data-align={align} data-grows={grows}>
                {hidesHeader ? <span className="only-read">{header}</span> : header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={(event) => moveByArrows(event, body.current)}>
          {rows.map((row) => {
            const key = rowKey(row);
            return <TableRow key={key} isSelected={selection?.selected.has(key)} {...{ row, columns, table }} />;
          })}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  /** Undefined if rows cannot be selected. */
  readonly isSelected: boolean | undefined;
  readonly table: { readonly current: CurrentTable<Row> };
}

/** Renders again only if the row, its selection or the columns change. A whole list takes long on a phone. */
const TableRow = memo(function TableRow<Row>({ row, columns, isSelected, table }: RowProps<Row>) {
  const { open, isOpenable } = table.current;
  return (
    // Keyboard users reach the link in the first cell; a click anywhere on the row is a shortcut.
    <tr
      data-opens={isOpenable || undefined}
      data-selected={isSelected || undefined}
      onClick={(event) => open(row, event)}
    >
      {isSelected === undefined ? null : (
        <td className={styles.check}>
          <RowBox {...{ row, isSelected, table }} />
        </td>
      )}
      {columns.map(({ id, cell, align, grows }, place) => (
        <td key={id} data-align={align} data-grows={grows}>
          {place === 0 ? (
            <Opener row={row} table={table}>
              {cell(row)}
            </Opener>
          ) : (
            cell(row)
          )}
        </td>
      ))}
    </tr>
  );
}) as <Row>(props: RowProps<Row>) => ReactNode;

function Cards<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, selection, isRefreshing } = props;
  const list = useRef<HTMLUListElement>(null);
  const table = useTable(props);
  return (
    <ul
      ref={list}
      className={`lined small ${styles.cards}`}
      aria-label={caption}
      aria-busy={isRefreshing}
      data-refreshing={isRefreshing || undefined}
      onKeyDown={(event) => moveByArrows(event, list.current)}
    >
      {rows.map((row) => {
        const key = rowKey(row);
        return <Card key={key} isSelected={selection?.selected.has(key)} {...{ row, columns, table }} />;
      })}
    </ul>
  );
}

/** Renders again only in the cases in which a `TableRow` does. */
const Card = memo(function Card<Row>({ row, columns, isSelected, table }: RowProps<Row>) {
  const { open, isOpenable } = table.current;
  const at = (wanted: Column<Row>['inCard']) =>
    columns.filter(({ inCard }, place) => (inCard ?? (place === 0 ? 'title' : 'line')) === wanted);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the link in it is what the keyboard reaches
    <li className={styles.card} data-opens={isOpenable || undefined} onClick={(event) => open(row, event)}>
      <div className={styles.cardHead}>
        {isSelected === undefined ? null : <RowBox {...{ row, isSelected, table }} />}
        <div className={styles.cardTitle}>
          <Opener row={row} table={table}>
            {at('title').map(({ id, cell }) => (
              <span key={id}>{cell(row)}</span>
            ))}
          </Opener>
        </div>
        {at('aside').map(({ id, cell }) => (
          <span key={id}>{cell(row)}</span>
        ))}
      </div>
      {at('text').map(({ id, cell }) => (
        <div key={id} className={styles.cardText}>
          {cell(row)}
        </div>
      ))}
      <dl className={styles.lines}>
        {at('line').map(({ id, header, cell }) => (
          <div key={id}>
            <dt>{header}</dt>
            <dd>{cell(row)}</dd>
          </div>
        ))}
      </dl>
    </li>
  );
}) as <Row>(props: RowProps<Row>) => ReactNode;

type OpenerProps<Row> = Pick<RowProps<Row>, 'row' | 'table'> & { readonly children: ReactNode };

function Opener<Row>({ row, table, children }: OpenerProps<Row>) {
  const { rowLink, onOpen } = table.current;
  if (rowLink)
    return (
      <Link {...(rowLink(row) as LinkProps)} className={styles.opener} data-opener="">
        {children}
      </Link>
    );
  if (onOpen)
    return (
      <UnstyledButton className={styles.opener ?? ''} data-opener="" onClick={() => table.current.onOpen?.(row)}>
        {children}
      </UnstyledButton>
    );
  return children;
}

const isHandledInside = (event: MouseEvent) =>
  event.target instanceof Element && event.target.closest('a, button, input, label, summary') !== null;

/** Returns true if the operator is selecting text to copy it. The end of that selection is not a click on the row. */
const isSelecting = () => (getSelection()?.toString() ?? '') !== '';

interface CurrentTable<Row> extends DataTableProps<Row> {
  readonly isOpenable: boolean;
  open(row: Row, event: MouseEvent): void;
  select(rows: readonly Row[], isSelected: boolean): void;
}

/** Returns the table's current props and handlers in a ref, so that rows do not depend on new handlers. */
function useTable<Row>(props: DataTableProps<Row>): { readonly current: CurrentTable<Row> } {
  const navigate = useNavigate();
  const current: CurrentTable<Row> = {
    ...props,
    isOpenable: props.rowLink !== undefined || props.onOpen !== undefined,
    open(row, event) {
      const { rowLink, onOpen } = table.current;
      if (isHandledInside(event) || isSelecting()) return;
      if (onOpen) onOpen(row);
      else if (rowLink && (event.metaKey || event.ctrlKey))
        event.currentTarget
          .querySelector<HTMLAnchorElement>('[data-opener]')
          ?.dispatchEvent(
            new window.MouseEvent('click', { bubbles: true, cancelable: true, metaKey: true, ctrlKey: true }),
          );
      else if (rowLink) void navigate(rowLink(row) as Parameters<typeof navigate>[0]);
    },
    select(rows, isSelected) {
      const { rowKey, selection } = table.current;
      const keys = rows.map(rowKey);
      const rest = [...(selection?.selected ?? [])].filter((key) => !keys.includes(key));
      selection?.onChange(new Set(isSelected ? [...rest, ...keys] : rest));
    },
  };
  const table = useRef(current);
  table.current = current;
  return table;
}

function RowBox<Row>({ row, isSelected, table }: Pick<RowProps<Row>, 'row' | 'isSelected' | 'table'>) {
  const t = useTexts();
  return (
    <input
      type="checkbox"
      className={styles.box}
      aria-label={t('select', { name: table.current.rowKey(row) })}
      checked={isSelected}
      onChange={(event) => table.current.select([row], event.currentTarget.checked)}
    />
  );
}

/** Moves the focus between rows: Up and Down by one, Home and End to the first and the last. */
function moveByArrows(event: KeyboardEvent, list: HTMLElement | null): void {
  const openers = [...(list?.querySelectorAll<HTMLElement>('[data-opener]') ?? [])];
  const at = openers.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: openers.length - 1 }[event.key];
  if (next === undefined || !openers[next]) return;
  event.preventDefault();
  openers[next].focus();
}
