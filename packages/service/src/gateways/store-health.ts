import type { Database } from '../platform/db/database.js';
import { storeCalls } from './call-counts-sql.js';
import type { InstitutionHealth } from './institution-health.js';
import { storeCallsSeen } from './institution-health-sql.js';

/** The interval at which a node stores what it has seen of institutions and suppliers. */
export const STORE_HEALTH_SECONDS = 5;

/** Stores which institutions have answered this node and which have not, and this node's counts of calls. */
export async function storeInstitutionHealth(database: Database, health: InstitutionHealth): Promise<void> {
  await health.seen.flush((seen) => storeCallsSeen(database, seen));
  const counts = health.counter.take();
  try {
    if (counts.length > 0) await storeCalls(database, counts);
  } catch (error) {
    health.counter.putBack(counts);
    throw error;
  }
}
