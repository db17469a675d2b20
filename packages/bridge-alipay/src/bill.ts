import type { Clock, Statement } from '@perennial/bridge-kit';
import { type Gateway, Unknown } from './gateway.js';
import { toCents } from './money.js';
import type { Numbers } from './numbers.js';
import { DAY_MS, readTime, startOfDay } from './times.js';
import { unzip } from './zip.js';

export type Line = Statement['lines'][number];

const MAX_ZIP_BYTES = 64 * 1024 * 1024;
const MAX_BILL_BYTES = 512 * 1024 * 1024;
/** The number of days whose bills stay in memory, because a statement is read in several pages. */
const DAYS_KEPT = 2;
/**
 * The time, counted from the beginning of a day, after which a missing bill means that the day had no trades. Before
 * that, the bill may just be late: Alipay makes bills before 9 o'clock of the next day, "later in special cases"
 * (https://opendocs.alipay.com/open/06fpmm), so the bridge waits one more day.
 */
const SURELY_MADE_AFTER_MS = 2 * DAY_MS + DAY_MS / 2;

export interface Bills {
  readLines(day: string): Promise<readonly Line[]>;
}

/** Reads the merchant's trade bill of a day. Downloads it once for all pages, even if the first caller gives up. */
export function createBills(gateway: Gateway, numbers: Numbers, clock: Clock): Bills {
  const readings = new Map<string, Promise<readonly Line[]>>();

  async function read(day: string): Promise<readonly Line[]> {
    const endOfDay = startOfDay(day) + DAY_MS;
    if (clock.now() < endOfDay) throw new Unknown(`the bill of ${day} is made the next morning`);
    const answer = await gateway.call('alipay.data.dataservice.bill.downloadurl.query', {
      bill_type: 'trade',
      bill_date: day,
    });
    if (answer.outcome === 'done') return readBill(await download(String(answer.fields['bill_download_url'])), numbers);
    const isMissing = /BILL_NOT_EXIST$/i.test(answer.subCode);
    if (isMissing && clock.now() >= startOfDay(day) + SURELY_MADE_AFTER_MS) return [];
    throw new Unknown(`there is no bill of ${day} yet: ${answer.subCode} ${answer.words}`);
  }

  return {
    readLines(day) {
      const under = readings.get(day);
      if (under) return under;
      const reading = read(day);
      readings.set(day, reading);
      reading.catch(() => readings.delete(day));
      for (const other of [...readings.keys()].slice(0, -DAYS_KEPT)) readings.delete(other);
      return reading;
    },
  };
}

/** Downloads the bill. The URL is valid for 30 seconds. */
async function download(url: string): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(60_000) });
  if (!response.ok || !response.body) throw new Unknown(`the bill cannot be downloaded: HTTP ${response.status}`);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > MAX_ZIP_BYTES) throw new Unknown('the bill is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Parses the zip, which holds the trades and a summary as CSV in GBK. Comment lines begin with `#`, some cells end with
 * a tab, refunds are negative. Alipay does not document the format; this is how real bills look. Columns are found by
 * name.
 */
export function readBill(zip: Buffer, numbers: Numbers): readonly Line[] {
  const gbk = new TextDecoder('gb18030');
  const lists = unzip(zip, MAX_BILL_BYTES)
    .map((file) => gbk.decode(file))
    .filter((text) => text.includes(FIRST_COLUMN) && text.includes(COLUMNS.kind));
  if (lists.length === 0) throw new Unknown('the bill has no list of trades');
  return lists.flatMap((text) => readList(text, numbers));
}

const FIRST_COLUMN = '支付宝交易号';
const COLUMNS = {
  tradeNo: FIRST_COLUMN,
  outTradeNo: '商户订单号',
  kind: '业务类型',
  subject: '商品名称',
  completedAt: '完成时间',
  amount: '订单金额（元）',
  outRequestNo: '退款批次号/请求号',
} as const;
type Column = keyof typeof COLUMNS;
const KINDS: Readonly<Record<string, Line['kind']>> = { 交易: 'DEBIT', 退款: 'REFUND' };

function readList(text: string, numbers: Numbers): Line[] {
  const rows = text.split(/\r?\n/);
  const list = rows.filter((row) => row !== '' && !row.startsWith('#')).map(readRow);
  const [header = [], ...trades] = list;
  const places = Object.fromEntries(Object.entries(COLUMNS).map(([name, title]) => [name, header.indexOf(title)]));
  if (Object.values(places).includes(-1)) throw new Unknown('the bill has other columns than expected');
  const cellsOf = (row: readonly string[]) => (column: Column) => row[places[column] ?? -1] ?? '';
  requireAll(text, trades.map(cellsOf));
  return trades.flatMap((row) => toLine(cellsOf(row), numbers) ?? []);
}

/**
 * Throws if the bill's footer states a different number of trades: an incomplete bill must not be taken for a complete
 * bill.
 */
function requireAll(text: string, trades: readonly ((column: Column) => string)[]): void {
  for (const kind of Object.keys(KINDS)) {
    const [, said] = new RegExp(`^#+${kind}合计：(\\d+)笔`, 'm').exec(text) ?? [];
    const found = trades.filter((cell) => cell('kind') === kind).length;
    if (said !== undefined && Number(said) !== found)
      throw new Unknown(`the bill says ${said} of ${kind}, and has ${found}`);
  }
}

/**
 * Returns undefined for other kinds of lines, and for numbers that are recognizably not this bridge's. If no prefix is
 * set, most of the merchant's other numbers are taken for numbers of this bridge.
 */
function toLine(cell: (column: Column) => string, numbers: Numbers): Line | undefined {
  const kind = KINDS[cell('kind')];
  const attemptNo = numbers.fromTrade(cell('outTradeNo'), cell('subject'));
  const number = kind === 'REFUND' ? numbers.fromRefund(cell('outRequestNo')) : attemptNo;
  if (kind === undefined || attemptNo === undefined || !number) return undefined;
  const amount = toCents(cell('amount'));
  const bookedAt = readTime(cell('completedAt'));
  const institutionRef = cell('tradeNo');
  if (amount === undefined || bookedAt === undefined || institutionRef === '')
    throw new Unknown('a line of the bill cannot be read');
  return { kind, number, amountCent: Math.abs(amount), status: 'SUCCESS', bookedAt, institutionRef };
}

/** Splits a row. Quoted cells may contain commas. */
function readRow(row: string): string[] {
  const cells = row.matchAll(/(?:^|,)(?:\s*"((?:[^"]|"")*)"?\s*|([^,]*))/g);
  return [...cells].map(([, quoted, plain = '']) =>
    (quoted === undefined ? plain : quoted.replaceAll('""', '"')).trim(),
  );
}
