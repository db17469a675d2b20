import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take ten seconds or more, the longest first. A clone that has never run its tests knows a file by its size alone, and
 * a short file may take a minute: begun last, it would keep one core busy while the others are done.
 */
const LONGEST = [
  'browser/console-journeys',
  'start/rolling',
  'browser/console-looks',
  'abuse/abuse',
  'webhooks/shards',
  'browser/console-frame',
  'crash/renewals-over-bridge',
  'start/settings',
  'crash/same-card-over-bridge',
  'backup/backup',
  'operator/demo-fill',
  'crash/deliveries',
  'orders/long-answers-memory',
  'orders/slow-readers',
  'database/tls',
  'docs/examples',
  'orders/races',
  'backup/places',
  'webhooks/order',
  'institution/crash',
  'database/pooler',
  'cli/migrate',
  'crash/database-away',
  'histories/histories',
  'browser/journeys',
  'browser/pages',
  'crash/creates-over-bridge',
  'console/session',
  'refunds/over-bridge',
  'webhooks/secrets',
  'races/greedy-channel',
  'database/silence',
  'races/two-nodes',
  'crash/kill-everything',
  'engine/housekeeping-events',
  'cli/embedded',
  'console/bulk',
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
