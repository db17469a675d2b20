import { inParallel, orderOf, range, tally, unique } from './caller.mjs';
import { runAlone } from './run.mjs';

const WIDTH = 8;
/** Of so many links the signature itself is looked for, in case it is stored without the rest. */
const SOUGHT = 4;

export const attack = {
  name: 'stored-links',
  about: 'somebody who can read the database, or its log, looks for redemption links that still work',
  numbers: {
    requests: { usual: 200, short: 20, means: 'orders made, each of them sent twice under its Idempotency-Key' },
  },
  mayEndAs: ['0'],

  async prepare({ stage }) {
    return { attacker: await stage.usualAttacker() };
  },

  async run({ stage, options, signal, prepared: { attacker } }) {
    const made = await inParallel(WIDTH, range(options.requests), signal, async () => {
      const order = orderOf(attacker, 'TEST_SPU_001');
      const idempotencyKey = unique('key');
      const send = () => attacker.call('orders/create', order, { idempotencyKey, signal });
      return [await send(), await send()];
    });
    const links = made.flat().flatMap(({ data }) => (data ? [data.redeemUrl] : []));
    const dead = await deadLinks(attacker, made.at(0)?.map(({ data }) => data?.redeemUrl) ?? [], signal);
    const signatures = links.map((link) => new URL(link).searchParams.get('sig'));
    const stored = await findInDatabase(stage, signatures.slice(0, SOUGHT));
    const log = await stage.log();
    const logged = signatures.filter((signature) => log.includes(signature)).length;
    return {
      ended: tally(made.flat().map(({ code }) => code)),
      figures: { 'rows with a signature': sum(stored.map(({ rows }) => rows)), 'signatures in the log': logged },
      findings: [
        ...stored.map(({ table, rows }) => `${rows} rows of ${table} hold the signature of a link`),
        ...(logged > 0 ? [`${logged} signatures are in the log`] : []),
        ...dead,
      ],
    };
  },
};

/** A link that is not stored must still be given, the first time and again, and it must lead somewhere. */
async function deadLinks(attacker, links, signal) {
  const found = [];
  for (const link of links) {
    if (typeof link !== 'string') found.push('an order was answered without its link');
    else {
      const { pathname, search } = new URL(link);
      const { status } = await attacker.send({ method: 'GET', path: pathname + search, headers: {} }, { signal });
      if (status !== 200) found.push(`a link opens with HTTP ${status}`);
    }
  }
  return found;
}

/** Every column of every table: whole rows as text, so that nothing is passed over, whatever its name or type. */
async function findInDatabase({ database }, signatures) {
  const tables = await database.query(
    `select c.oid::regclass::text as table from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relkind = 'r' order by 1`,
  );
  const found = [];
  for (const { table } of tables) {
    const [{ rows }] = await database.query(
      `select count(*)::integer as rows from ${table} t
       where t::text like '%sig=%' or exists (select from unnest($1::text[]) sig where position(sig in t::text) > 0)`,
      [signatures],
    );
    if (rows > 0) found.push({ table, rows });
  }
  return found;
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

await runAlone(import.meta.url, attack);
