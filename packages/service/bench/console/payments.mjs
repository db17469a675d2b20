import { listDebits, listRefunds, totalDebits, totalRefunds } from '../../dist/operator/payments/payment-lists.js';

const MOST_OPEN = 50_000;

/** Leaves the latest debits without a final result, as if an institution had not answered for some hours. */
export async function makeOpenDebits({ maker }, { orders }) {
  await maker.query(
    `update debit_attempts set status = 'STARTED', settled_at = null, paid_at = null, ask_at = now() + interval '1 hour'
     where (order_no, cycle_no, try_no) in (select order_no, cycle_no, try_no from debit_attempts order by started_at desc limit $1)`,
    [Math.min(MOST_OPEN, Math.ceil(orders / 100))],
  );
  await maker.query('vacuum analyze debit_attempts');
}

export function readsOfPayments(operator, { appIds, anyApp, day }) {
  const filters = {
    everything: () => ({}),
    'of a large channel': () => ({ appId: appIds[0] }),
    'of a channel': (n) => ({ appId: anyApp(n) }),
    'on a day': (n) => ({ from: day(20 + (n % 300)), to: day(19 + (n % 300)) }),
    'of a channel on a day': (n) => ({
      appId: anyApp(n),
      from: day(5 + (n % 30)),
      to: day(4 + (n % 30)),
    }),
    'without a result': () => ({ status: 'STARTED' }),
    'that failed': () => ({ status: 'FAIL' }),
    'that failed, of a channel': (n) => ({ status: 'FAIL', appId: anyApp(n) }),
    'that failed, on a day': (n) => ({ status: 'FAIL', from: day(20 + (n % 300)), to: day(19 + (n % 300)) }),
    'of an amount and a product, of a channel': (n) => ({
      appId: anyApp(n),
      productCode: 'MONTHLY_2',
      amountFrom: '1000',
      amountTo: '2000',
    }),
    'without a result, of a channel': (n) => ({ status: 'STARTED', appId: anyApp(n) }),
    'of a product of 1 in 50': () => ({ productCode: 'MONTHLY_2' }),
    'of a product that nobody has': () => ({ productCode: 'NEW' }),
    'of an institution that nobody uses': () => ({ paymentChannelCode: 'NONE' }),
    'of an amount that nobody paid': () => ({ amountFrom: '1', amountTo: '1' }),
  };
  const entries = (kind, read) =>
    Object.entries(filters).map(([label, filter]) => ({ kind, label, read: (n) => read(operator, filter(n)) }));
  const debits = [
    ...entries('debits', listDebits),
    { kind: 'debits', label: 'sixth attempts (none)', read: () => listDebits(operator, { tryNo: '6' }) },
    { kind: 'debits', label: 'everything, the 20th page of 200', prepare: true, read: deep(operator, 20) },
  ];
  return [
    ...debits,
    ...entries('debits, totals', totalDebits),
    ...entries('refunds', listRefunds),
    ...entries('refunds, totals', totalRefunds),
  ];
}

/** Reads the first `pages` pages. Returns a function that reads the page after them. */
const deep = (operator, pages) => async () => {
  let cursor;
  const read = () => listDebits(operator, { limit: 200, ...(cursor ? { cursor } : {}) });
  for (let page = 0; page < pages; page += 1) cursor = (await read()).nextCursor;
  return read;
};
