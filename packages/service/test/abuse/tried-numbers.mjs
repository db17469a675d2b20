import { cancelUnusedAgreement } from '../../dist/agreements/cancel-sql.js';
import { mayShareNumber } from '../../dist/agreements/number-sql.js';
import { orderOf, range, tally, unique } from './caller.mjs';
import { rowsRead } from './rows-read.mjs';
import { runAlone } from './run.mjs';

const PRODUCT = 'TEST_SPU_001';
const PAYMENT_CHANNEL = 'MOCKPAY';
/** Of orders that nobody has. */
const FIRST_COPY = 500_000_000_000_000;
const BATCH = 2_000;
/** What a question about the number may read of the tables. */
const MOST_ROWS = 50;

export const attack = {
  name: 'tried-numbers',
  about: 'orders on one number of an institution, all of them declined, while its owner creates and ends orders on it',
  numbers: {
    orders: { usual: 4_000, short: 500, means: 'orders that were declined' },
    requests: { usual: 60, short: 20, most: 1_000, means: 'orders that the owner creates, all at once' },
  },
  mayEndAs: ['0', '429001'],

  /** The attacker's orders are one that was declined, as often as wanted. */
  async prepare({ stage, options, signal }) {
    const attacker = await sharing(stage);
    const owner = await sharing(stage);
    const number = unique('N');
    const tried = sharedOrder(attacker, number);
    const { code, data } = await attacker.call('orders/create', {
      ...tried,
      externalOrderNo: `${tried.externalOrderNo}_FAIL`,
    });
    if (code !== '0' || data.orderStatus !== 'TERMINATED') throw new Error(`the order was not declined but ${code}`);
    for (let from = 0; from < options.orders; from += BATCH) {
      signal.throwIfAborted();
      await copyOrder(stage.database, data.orderNo, from, Math.min(options.orders, from + BATCH) - 1);
    }
    await stage.database.query('analyze agreements, orders, external_orders');
    return { owner, number };
  },

  async run({ stage: { database }, options, signal, prepared: { owner, number } }) {
    const created = await Promise.all(
      range(options.requests).map(() => owner.call('orders/create', sharedOrder(owner, number), { signal })),
    );
    const [last, ...others] = created.filter(({ code }) => code === '0');
    const asking = last && (await readToAsk(database, last.data.orderNo));
    const ended = await Promise.all(
      others.map(({ data }) => owner.call('orders/unsubscribe', { orderNo: data.orderNo }, { signal })),
    );
    const ending = last && (await readToEnd(database, last.data.orderNo));
    const figures = { 'rows read to know whose the number is': asking, 'rows read to end an order on it': ending };
    return {
      ended: tally([...created, ...ended].map(({ code }) => code)),
      figures,
      findings: Object.entries(figures).flatMap(([what, rows]) => (rows <= MOST_ROWS ? [] : [`${what}: ${rows}`])),
    };
  },
};

/** A channel that may share agreements. */
async function sharing(stage) {
  const channel = await stage.ownAttacker({ products: [PRODUCT] });
  await stage.perennial('channel', 'authorize-payment-channel', channel.channel.appId, PAYMENT_CHANNEL, '--share');
  return channel;
}

function sharedOrder(channel, sharedAgreementNo) {
  const order = orderOf(channel, PRODUCT);
  const { channelUserId } = order;
  return {
    ...order,
    settlementMode: 'SVC_DEDUCT',
    sharedAgreement: {
      paymentChannelCode: PAYMENT_CHANNEL,
      sharedAgreementNo,
      channelUserId,
      bankCardNoEncrypted: channel.encrypt('6222020000001234567'),
      bankMobileEncrypted: channel.encrypt('13800000001'),
      certificateNoEncrypted: channel.encrypt('110101199001011234'),
      realNameEncrypted: channel.encrypt('张三'),
    },
  };
}

/** With its agreement, of the same user and under the same number. */
async function copyOrder(database, orderNo, from, to) {
  const copied = (alias, columns) => `select (jsonb_populate_record(${alias}, jsonb_build_object(${columns}))).*`;
  const times = 'cross join generate_series($2::bigint, $3::bigint) n where o.order_no = $1';
  await database.query(
    `with shared as (
       insert into agreements ${copied('g', `'agreement_id', n, 'agreement_no', 'AG' || n`)}
       from orders o join agreements g using (agreement_id) ${times}
     ), named as (
       insert into external_orders ${copied('e', `'order_no', n, 'external_order_no', 'tried-' || n`)}
       from orders o join external_orders e using (order_no) ${times}
     )
     insert into orders
     ${copied('o', `'order_no', n, 'external_order_no', 'tried-' || n, 'agreement_id', n`)} from orders o ${times}`,
    [orderNo, FIRST_COPY + from, FIRST_COPY + to],
  );
}

const agreementOf = async (database, orderNo) => {
  const [row] = await database.query(
    `select a.agreement_id as "agreementId", a.channel_id as "channelId", a.institution_hash as "institutionHash"
     from orders o join agreements a using (agreement_id) where o.order_no = $1`,
    [orderNo],
  );
  return row;
};

/** As orders/create asks it, for the seventh time on a connection: by then its plan is made for any number. */
async function readToAsk(database, orderNo) {
  const { channelId, institutionHash } = await agreementOf(database, orderNo);
  return rowsRead(database, async (tx) => {
    await tx.query('set local plan_cache_mode = force_generic_plan');
    await mayShareNumber(tx, channelId, { paymentChannelCode: PAYMENT_CHANNEL, institutionHash });
  });
}

/** As orders/unsubscribe does it. */
async function readToEnd(database, orderNo) {
  const { agreementId } = await agreementOf(database, orderNo);
  return rowsRead(database, (tx) => cancelUnusedAgreement(tx, agreementId, Number(orderNo)));
}

await runAlone(import.meta.url, attack);
