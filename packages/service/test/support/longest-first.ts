import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take ten seconds or more, the longest first. A clone that has never run its tests knows a file by its size alone, and
 * a short file may take a minute: begun last, it would keep one core busy while the others are done.
 */
const LONGEST = [
  'browser/console-journeys',
  'browser/console-looks',
  'kit/languages',
  'crash/renewals-over-bridge',
  'abuse/abuse',
  'kit/developers-browser',
  'start/workers',
  'webhooks/shards',
  'crash/creates-over-alipay',
  'crash/creates-over-stripe',
  'browser/console-frame',
  'orders/races',
  'prove/smoke',
  'kit/shop-browser',
  'browser/journeys',
  'database/silence',
  'test/bridge',
  'bridge-check/sins',
  'backup/restored',
  'operator/demo-fill',
  'engine/housekeeping-events',
  'browser/pages',
  'test/identity',
  'browser/console-branding',
  'bridge-check/faults',
  'orders/slow-readers',
  'crash/creates-over-bridge',
  'kit/listen',
  'crash/deliveries',
  'bench/outcome',
  'browser/console-stored-script',
  'console/session',
  'start/stop',
  'docs/examples',
  'console/bulk',
  'crash/same-card-over-bridge',
  'console/order-lists',
  'crash/claims',
  'crash/notices',
  'webhooks/shared-shard',
  'test/crash',
  'database/replicas',
  'redeem/looks',
  'idempotency/answers',
  'refunds/over-bridge',
  'orders/long-answers-memory',
  'crash/renewals-billed',
  'webhooks/secrets',
  'cli/refusals',
  'kit/sdk',
  'cli/commands',
  'cli/migrate',
  'kit/diagnosis',
  'start/settings',
  'orders/over-bridge',
  'crash/database-away',
];

const places = new Map(LONGEST.map((name, place) => [name, place]));

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const name = `${path.basename(path.dirname(moduleId))}/${path.basename(moduleId, '.test.ts')}`;
  return places.get(name) ?? LONGEST.length;
}
