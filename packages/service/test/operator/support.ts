import type { Operator } from '../../src/operator/operator.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { createProduct } from '../../src/operator/provisioning/products.js';
import type { Database } from '../../src/platform/db/database.js';
import { openVault } from '../../src/platform/secrets/vault.js';

export const VAULT = openVault([new Uint8Array(32).fill(7)]);

export function operatorOn(database: Database, more: Partial<Operator> = {}): Operator {
  return { database, vault: VAULT, environment: 'sandbox', actor: 'test:ann', ...more };
}

export const PRODUCT = {
  productCode: 'MONTHLY',
  productName: 'Monthly',
  settlementModes: ['SVC_DEDUCT'],
  periodType: 'MONTH',
  period: 1,
  totalCycles: 12,
  amountCent: 1990,
  benefits: [{ benefitCode: 'VIP', name: 'VIP', faceValueCent: 1500 }],
};

export const PAYMENT_CHANNEL = { code: 'PAY', displayName: 'Pay', gateway: 'sandbox', supportedBanks: ['*'] };

/** Creates the product MONTHLY and the payment channels PAY and BANK. */
export async function stock(operator: Operator): Promise<void> {
  await createProduct(operator, PRODUCT);
  await createPaymentChannel(operator, PAYMENT_CHANNEL);
  await createPaymentChannel(operator, { ...PAYMENT_CHANNEL, code: 'BANK', supportedBanks: ['ICBC', 'CCB'] });
}

/** Returns all rows of all tables as text, to check that nothing changed or that a value is absent. */
export async function dump(database: Database): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' order by tablename`,
  );
  const parts = tables.map(
    ({ name }) => `(select '${name}: ' || coalesce(json_agg(t order by t::text)::text, '') from ${name} t)`,
  );
  const [row] = await database.query<{ text: string }>(
    `select concat_ws(E'\\n', ${['null', ...parts].join()}) as text`,
  );
  return row?.text ?? '';
}

/** Like `dump`, without the tables whose text matches. A table's text begins with its name. */
export const dumpWithout = async (database: Database, names: RegExp): Promise<string> =>
  (await dump(database))
    .split(/\n(?=\w+: )/)
    .filter((table) => !names.test(table))
    .join('\n');

export async function versionOf(database: Database, appId: string): Promise<number | undefined> {
  const [row] = await database.query<{ version: number }>('select version from channels where app_id = $1', [appId]);
  return row?.version;
}
