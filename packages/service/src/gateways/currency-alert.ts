import { alertText } from '../alerts/alert-wordings.js';
import { raiseAlertOnce, resolveAlert } from '../alerts/alerts-sql.js';
import type { Queryable } from '../platform/db/database.js';

/** Returns a function that raises the alert about a bridge's wrong currency, or resolves it if the currency fits. */
export function createCurrencyAlert(
  db: Queryable,
  paymentChannelCode: string,
  ours: string,
): (theirs: string) => Promise<void> {
  return (theirs) =>
    theirs === ours
      ? resolveAlert(db, 'bridge-currency', paymentChannelCode, alertText('bridge-currency|resolved'))
      : raiseAlertOnce(db, 'bridge-currency', paymentChannelCode, alertText('bridge-currency', theirs, ours));
}
