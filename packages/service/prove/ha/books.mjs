import { formatAttemptNo } from '../../dist/subscriptions/domain/orders/order-numbers.js';

const lost = (text) => ({ kind: 'lost', text });
const doubled = (text) => ({ kind: 'doubled', text });

/** What is lost and what is doubled, with a line for each. */
export async function booksOf(database, { writes, ledger, received }) {
  return [
    ...ordersOf(await database.query(ORDERS), writes),
    ...debitsOf(await database.query(ATTEMPTS), ledger),
    ...(await database.query(PERIODS)).map(periodFinding),
    ...(await database.query(TOTALS)).map(({ orderNo }) =>
      lost(`order ${orderNo}: its totals are not those of its periods`),
    ),
    ...eventsOf(await database.query(EVENTS), received),
    ...(await database.query(TOLD_TWICE)).map(({ what }) => doubled(`two events say the same: ${what}`)),
  ];
}

const ORDERS = `select order_no::text as "orderNo", external_order_no as "externalOrderNo", status from orders`;

/** What was acknowledged is there, and nothing else is. */
function ordersOf(rows, writes) {
  const findings = [];
  const byNumber = new Map(rows.map((row) => [row.orderNo, row]));
  const byExternal = new Map();
  for (const row of rows) {
    if (byExternal.has(row.externalOrderNo)) findings.push(doubled(`${row.externalOrderNo} has two orders`));
    byExternal.set(row.externalOrderNo, row);
  }
  const asked = new Set(writes.filter(isCreate).map(({ about }) => about));
  for (const { externalOrderNo } of rows) {
    if (!asked.has(externalOrderNo)) findings.push(doubled(`nobody has asked for ${externalOrderNo}`));
  }
  for (const write of writes.filter(({ answer }) => answer?.code === '0')) {
    const { kind, about, answer } = write;
    if (isCreate(write)) {
      const { orderNo } = byExternal.get(about) ?? {};
      if (orderNo !== answer.data.orderNo)
        findings.push(lost(`${kind} ${about} was answered, and its order is not there`));
    } else if (byNumber.get(about)?.status !== 'UNSUBSCRIBED') {
      findings.push(lost(`${kind} ${about} was answered, and the order goes on`));
    }
  }
  return findings;
}

const isCreate = ({ endpoint }) => endpoint === 'orders/create';

const ATTEMPTS = `select order_no as "orderNo", cycle_no as "cycleNo", try_no as "tryNo", amount_cent as "amountCent", status
  from debit_attempts`;

/** The institution's ledger against the service's attempts: each debit is known here, with its outcome and its amount. */
function debitsOf(attempts, ledger) {
  const findings = [];
  const debits = new Map(ledger.map((debit) => [debit.attemptNo, debit]));
  const known = new Set();
  const paid = new Map();
  for (const { orderNo, cycleNo, tryNo, amountCent, status } of attempts) {
    const number = formatAttemptNo(orderNo, cycleNo, tryNo);
    known.add(number);
    const debit = debits.get(number);
    const taken = debit?.debitedCent ?? 0;
    if (taken > 0) {
      const period = `${orderNo}/${cycleNo}`;
      if (paid.has(period)) findings.push(doubled(`period ${period} was debited twice`));
      paid.set(period, number);
    }
    if (status === 'STARTED') continue;
    if (taken !== (status === 'SUCCESS' ? amountCent : 0)) {
      findings.push(lost(`debit ${number} is ${status} here, and the institution has taken ${taken} cents`));
    }
  }
  for (const number of debits.keys()) {
    if (!known.has(number)) findings.push(lost(`debit ${number} is at the institution and not here`));
  }
  return findings;
}

const PAID = `('SUCCESS', 'BILLED')`;

/** Periods whose benefits or debits are not one if they are paid, and none if not. */
const PERIODS = `select * from (
  select o.order_no || '/' || p.cycle_no as period, p.status, (p.status in ${PAID})::integer as paid,
    (select count(*) from benefits b where b.order_no = p.order_no and b.cycle_no = p.cycle_no) as benefits,
    case when o.settlement_mode = 'CHANNEL_COLLECT' then (p.status in ${PAID})::integer else
      (select count(*) from debit_attempts a where a.order_no = p.order_no and a.cycle_no = p.cycle_no
       and a.status = 'SUCCESS') end as debits
  from payments p join orders o using (order_no)) x
  where benefits <> paid or debits <> paid`;

function periodFinding({ period, status, paid, benefits, debits }) {
  const isMore = benefits > paid || debits > paid;
  return (isMore ? doubled : lost)(`period ${period} is ${status}, with ${benefits} benefits and ${debits} debits`);
}

const TOTALS = `select o.order_no as "orderNo" from orders o left join lateral (
    select count(*) as cycles, coalesce(sum(amount_cent), 0) as cents from payments p
    where p.order_no = o.order_no and p.status in ${PAID}) paid on true
  where o.paid_cycles <> paid.cycles or o.paid_amount_cent <> paid.cents`;

/** A range of voided periods is one row, and an event for each period when it is sent. */
const EVENTS = `select event_no || coalesce('-' || cycle, '') as "eventId", order_no::text as "orderNo" from events
  left join lateral generate_series(cycle_no, cycle_to) as cycle on cycle_to is not null`;

/** The receiver has every event, and none that is not here. */
function eventsOf(rows, received) {
  const findings = [];
  const known = new Map(rows.map(({ eventId, orderNo }) => [eventId, orderNo]));
  for (const [eventId, orderNo] of known) {
    if (!received.has(eventId)) findings.push(lost(`event ${eventId} of order ${orderNo} never came`));
  }
  for (const [eventId, { orderNo }] of received) {
    if (known.get(eventId) !== orderNo)
      findings.push(lost(`event ${eventId} came, and here it is not of order ${orderNo}`));
  }
  return findings;
}

/** A debit that is tried again may fail again; everything else happens once. */
const TOLD_TWICE = `select order_no || ' ' || coalesce(cycle || ' ', '') || status as what from (
    select order_no, cycle, coalesce(data::jsonb ->> 'paymentStatus', data::jsonb ->> 'orderStatus') as status from events
    left join lateral generate_series(cycle_no, coalesce(cycle_to, cycle_no)) as cycle on cycle_no is not null) told
  where status <> 'FAIL_RETRY' group by order_no, cycle, status having count(*) > 1`;
