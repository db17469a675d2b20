import { type Database, statement } from '../../platform/db/database.js';
import { declareDailyScan } from './daily-scan.js';

const EXPIRE_BENEFITS_IN_PAGES = statement({
  text: `update benefits set status = 'EXPIRED' where ctid = any(array(
       select ctid from benefits where ctid >= $1::tid and ctid < $2::tid
         and status = 'ISSUED' and expires_at <= now() - interval '1 hour' for update skip locked)) returning 1`,
  parameters: ['tid', 'tid'],
});

/**
 * Marks ISSUED benefits as EXPIRED if their time has been over for an hour. Users notice no difference, because claims,
 * pages and answers check a benefit's time too. Skips benefits that are being claimed or revoked. The hour allows for
 * nodes whose clocks differ.
 */
export const createBenefitExpiry = (database: Database) =>
  scanBenefits(database, async ({ from, to }) => (await database.query(EXPIRE_BENEFITS_IN_PAGES, [from, to])).length);
const scanBenefits = declareDailyScan('benefits-expired', 'benefits');
