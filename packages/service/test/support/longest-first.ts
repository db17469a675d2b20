import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes half a minute or more. Begun last, one of them would run alone at the end. */
const LONGEST = [
  'histories/histories',
  'browser/pages',
  'browser/journeys',
  'abuse/abuse',
  'backup/backup',
  'crash/renewals-over-bridge',
  'backup/places',
  'start/rolling',
  'webhooks/shards',
  'engine/housekeeping-events',
  'refunds/over-bridge',
  'orders/slow-readers',
  'orders/races',
  'database/silence',
];

const place = ({ moduleId }: TestSpecification) => {
  const found = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return found < 0 ? LONGEST.length : found;
};

/** Those with much to do begin first; the others as vitest would have them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
