import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlertOnce } from '../../alerts/alerts-sql.js';
import { isStockLow } from '../../alerts/resolve-sql.js';
import { columns, type Database, statement } from '../../platform/db/database.js';

const FIND_LOW_STOCKS = statement({
  text: `select f.benefit_code as "benefitCode", f.low_stock as "lowStock",
       (select count(*) from pool_codes p where p.benefit_code = f.benefit_code and p.given_to is null) as "codesLeft"
     from benefit_fulfilments f where ${isStockLow('f')} order by f.benefit_code`,
  parameters: [],
  columns: columns({
    benefitCode: 'text',
    lowStock: 'integer',
    codesLeft: 'bigint',
  }),
});

/**
 * Raises an alert for each pool with fewer codes than its threshold. Does not repeat the alert until it was
 * resolved, for example because the pool was refilled.
 */
export async function watchPoolStock(database: Database): Promise<number> {
  const low = await database.query(FIND_LOW_STOCKS);
  for (const { benefitCode, lowStock, codesLeft } of low) {
    await raiseAlertOnce(database, 'pool-low', benefitCode, alertText('pool-low', codesLeft, lowStock));
  }
  return low.length;
}
