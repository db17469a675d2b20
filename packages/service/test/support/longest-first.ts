import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files of `npm test` that take ten seconds or more, longest first. In a fresh clone only the sizes of the files are
 * known, and a small file may take a minute. If such a file were started last, it would keep one core busy while the
 * other cores idle.
 */
const LONGEST = [
  'browser/console-journeys',
  'crash/renewals-over-bridge',
  'browser/journeys',
  'database/silence',
  'crash/creates-over-bridge',
  'crash/deliveries',
  'browser/console-stored-script',
  'console/session',
  'console/bulk',
  'console/order-lists',
  'idempotency/answers',
  'cli/refusals',
  'start/settings',
  'orders/over-bridge',
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
