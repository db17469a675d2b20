import { HEADERS } from '@perennial/wire';
import pgUtils from 'pg/lib/utils.js';

/** Placeholders in recorded values. They stand for numbers that pgbench generates in each transaction. */
const NEW = '700000000000';
const PICKED = '711111111111';
const CHANNEL = '722222222222';
const VARIABLES = new Map([
  [NEW, ':n'],
  [PICKED, ':picked'],
  [CHANNEL, ':channel'],
]);

/**
 * Returns a pgbench script of the statements recorded from one request, and the values of its variables. The values
 * that identify the request (nonce, key, numbers, user) differ in every transaction; all others are as recorded. With
 * `channelId`, pgbench's clients stand for the channels in turn, which have consecutive ids.
 */
export function scriptOf({ statements, own: texts, channelId }) {
  const variables = {};
  const own = channelId === undefined ? texts : [...texts, [String(channelId), CHANNEL]];
  const valueFor = (value, name) => {
    if (value === null || value === undefined) return 'null';
    const text = own.reduce((sofar, [found, standsFor]) => sofar.replaceAll(found, standsFor), textOf(value));
    if (VARIABLES.has(text)) return VARIABLES.get(text);
    variables[name] = text;
    return [...VARIABLES].reduce(
      (sofar, [mark, variable]) => (text.includes(mark) ? `replace(${sofar}, '${mark}', ${variable}::text)` : sofar),
      `:${name}`,
    );
  };
  const lines = statements.map(({ text, values }, index) =>
    text.trim().replace(/\$(\d+)/g, (_, at) => valueFor(values[at - 1], `s${index}_${at}`)),
  );
  const head = ['\\set i :i + 1', '\\set n :base + 1000000 * :client_id + :i'];
  if (lines.some((line) => line.includes(':picked'))) head.push('\\set picked random(:first, :last)');
  if (channelId !== undefined) head.push('\\set channel :first_channel + :client_id % :channels');
  return { text: [...head, ...lines.map((line) => `${line};`)].join('\n'), variables };
}

/** Returns the value as the driver would send it, with bytes in PostgreSQL's format. */
function textOf(value) {
  const prepared = pgUtils.prepareValue(value);
  return Buffer.isBuffer(prepared) ? `\\x${prepared.toString('hex')}` : String(prepared);
}

/**
 * Returns pairs of a text that identifies this request and the placeholder for it. A placeholder for a hexadecimal text
 * has the same length as the text.
 */
export async function ownTexts(database, { request, data }, { picks }) {
  const { [HEADERS.nonce]: nonce, [HEADERS.idempotencyKey]: key } = request.headers;
  const signed = [[nonce, hexOf(nonce)], ...(key === undefined ? [] : [[key, `pgbench-${NEW}`]])];
  if (picks) return [...signed, [data.orderNo, PICKED]];
  const [order] = await database.query(
    `select o.order_no::text as number, o.external_order_no as external, o.channel_user_id as user,
       encode(u.mobile_hash, 'hex') as mobile, o.agreement_id::text as agreement,
       encode(a.institution_hash, 'hex') as institution
     from orders o join channel_users u using (channel_id, channel_user_id) left join agreements a using (agreement_id)
     where o.order_no = $1`,
    [data.orderNo],
  );
  return [
    ...signed,
    [order.external, `pgbench-order-${NEW}`],
    [order.user, `pgbench-user-${NEW}`],
    [order.mobile, hexOf(order.mobile)],
    [order.institution, order.institution && hexOf(order.institution)],
    [order.number, NEW],
    [order.agreement, NEW],
  ].filter(([found]) => found !== null);
}

const hexOf = (hex) => NEW.padEnd(hex.length, '0');
