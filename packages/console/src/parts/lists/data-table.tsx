import { UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link, type LinkProps, useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type MouseEvent, type ReactNode, useRef } from 'react';
import { dictionary } from '../../i18n/dictionary.ts';
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

export const PHONE = '(max-width: 47.99em)';

/** A table on a desktop, cards on a phone. Tab and the arrow keys reach the rows. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false });
  return isPhone ? <Cards {...props} /> : <Table {...props} />;
}

function Table<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, selection, isRefreshing } = props;
  const t = useTexts();
  const body = useRef<HTMLTableSectionElement>(null);
  const open = useOpening(props);
  return (
    <div className={styles.scroll} data-refreshing={isRefreshing || undefined} aria-busy={isRefreshing}>
      <table className={styles.table}>
        <caption className="only-read">{caption}</caption>
        <thead>
          <tr>
            {selection ? (
              <th scope="col" className={styles.check}>
                <SelectBox selection={selection} label={t('selectAll')} keys={rows.map(rowKey)} />
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
            return (
              // Keyboard users reach the link in the first cell; a click anywhere on the row is a shortcut.
              <tr
                key={key}
                data-opens={open !== undefined || undefined}
                data-selected={selection?.selected.has(key) || undefined}
                onClick={open && ((event) => open(row, event))}
              >
                {selection ? (
                  <td className={styles.check}>
                    <SelectBox selection={selection} label={t('select', { name: key })} keys={[key]} />
                  </td>
                ) : null}
                {columns.map(({ id, cell, align, grows }, place) => (
                  <td key={id} data-align={align} data-grows={grows}>
                    {place === 0 ? (
                      <Opener {...props} row={row}>
                        {cell(row)}
                      </Opener>
                    ) : (
                      cell(row)
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Cards<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, selection, isRefreshing } = props;
  const t = useTexts();
  const list = useRef<HTMLUListElement>(null);
  const open = useOpening(props);
  const places = columns.map((column, place) => ({
    ...column,
    inCard: column.inCard ?? (place === 0 ? 'title' : 'line'),
  }));
  const at = (place: string) => places.filter(({ inCard }) => inCard === place);
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
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the link in it is what the keyboard reaches
          <li
            key={key}
            className={styles.card}
            data-opens={open !== undefined || undefined}
            onClick={open && ((event) => open(row, event))}
          >
            <div className={styles.cardHead}>
              {selection ? <SelectBox selection={selection} label={t('select', { name: key })} keys={[key]} /> : null}
              <div className={styles.cardTitle}>
                <Opener {...props} row={row}>
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
      })}
    </ul>
  );
}

type OpenerProps<Row> = DataTableProps<Row> & { readonly row: Row; readonly children: ReactNode };

function Opener<Row>({ row, rowLink, onOpen, children }: OpenerProps<Row>) {
  if (rowLink)
    return (
      <Link {...(rowLink(row) as LinkProps)} className={styles.opener} data-opener="">
        {children}
      </Link>
    );
  if (onOpen)
    return (
      <UnstyledButton className={styles.opener ?? ''} data-opener="" onClick={() => onOpen(row)}>
        {children}
      </UnstyledButton>
    );
  return children;
}

const isHandledInside = (event: MouseEvent) =>
  event.target instanceof Element && event.target.closest('a, button, input, label, summary') !== null;

/** Returns true if the operator is selecting text to copy it. The end of that selection is not a click on the row. */
const isSelecting = () => (getSelection()?.toString() ?? '') !== '';

function useOpening<Row>({ rowLink, onOpen }: DataTableProps<Row>) {
  const navigate = useNavigate();
  if (!rowLink && !onOpen) return undefined;
  return (row: Row, event: MouseEvent) => {
    if (isHandledInside(event) || isSelecting()) return;
    if (onOpen) onOpen(row);
    else if (rowLink && (event.metaKey || event.ctrlKey))
      event.currentTarget
        .querySelector<HTMLAnchorElement>('[data-opener]')
        ?.dispatchEvent(
          new window.MouseEvent('click', { bubbles: true, cancelable: true, metaKey: true, ctrlKey: true }),
        );
    else if (rowLink) void navigate(rowLink(row) as Parameters<typeof navigate>[0]);
  };
}

interface SelectBoxProps {
  readonly selection: Selection;
  readonly label: string;
  readonly keys: readonly string[];
}

/** Selects one row or all rows shown. A plain element, because a component for each row is slow on phones. */
function SelectBox({ selection: { selected, onChange }, label, keys }: SelectBoxProps) {
  const count = keys.filter((key) => selected.has(key)).length;
  return (
    <input
      type="checkbox"
      className={styles.box}
      aria-label={label}
      checked={count > 0 && count === keys.length}
      ref={(box) => {
        if (box) box.indeterminate = count > 0 && count < keys.length;
      }}
      onChange={(event) => {
        const rest = [...selected].filter((key) => !keys.includes(key));
        onChange(new Set(event.currentTarget.checked ? [...rest, ...keys] : rest));
      }}
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
