import { align, visible } from '../frame/text.js';

type Row = Readonly<Record<string, unknown>>;

/** The columns that a table shows, for lists whose records have many fields. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  orders: ['orderNo', 'externalOrderNo', 'orderStatus', 'createTime', 'nextPayTime', 'totalPaidAmountCent'],
  events: ['eventId', 'lastEventId', 'eventType', 'orderNo', 'occurredAt', 'deliveryStatus', 'pushes'],
  pushes: ['eventId', 'eventType', 'occurredAt', 'writtenAt'],
  items: [
    ...['productCode', 'productName', 'settlementModes', 'periodType', 'period', 'totalCycles', 'amountCent'],
    ...['code', 'displayName', 'supportedBanks', 'isDefault', 'shareEnabled'],
  ],
};

/** Formats a response for reading: one row per field, and a table for each list. */
export function showAnswer(data: unknown): string {
  const { page: _page, size: _size, hasMore: _hasMore, nextCursor, ...rest } = data as Row;
  const fields = Object.entries(hideToken(rest));
  const isList = (value: unknown): value is readonly Row[] =>
    Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null);
  const plain = fields.filter(([, value]) => !isList(value));
  const lists = fields.filter((field): field is [string, readonly Row[]] => isList(field[1]));
  return [
    ...(plain.length > 0 ? [align(plain.map(([name, value]) => [name, toCell(value)]))] : []),
    ...lists.map(([name, rows]) => `${visible(name)}\n${showRows(name, rows)}`),
    ...(typeof nextCursor === 'string' ? [`more records: --cursor ${visible(nextCursor)}`] : []),
  ].join('\n\n');
}

function showRows(name: string, rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined) return '  none';
  const wanted = COLUMNS[name];
  const columns = Object.keys(first).filter((column) => (wanted ? wanted.includes(column) : !isNested(first[column])));
  return align([columns, ...rows.map((row) => columns.map((column) => toCell(row[column])))], '  ');
}

const isNested = (value: unknown): boolean => Array.isArray(value) && value.some((one) => typeof one === 'object');

function toCell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value) && !isNested(value)) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : visible(String(value));
}

/** Shows only the beginning of the token, because the whole token is a credential until it expires. */
function hideToken(data: Row): Row {
  const { accessToken } = data;
  return typeof accessToken === 'string' ? { ...data, accessToken: `${accessToken.slice(0, 8)}...` } : data;
}
