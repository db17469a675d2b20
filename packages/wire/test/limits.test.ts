import { describe, expect, it } from 'vitest';
import { endpoints, MAX_BODY_VALUES } from '../src/index.js';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly maxItems?: number;
}

/** Returns the number of values in the largest body that a schema accepts, without unknown fields. */
function mostValues({ properties = {}, items, maxItems }: Schema): number {
  const fields = Object.values(properties).reduce((sum, field) => sum + mostValues(field), 1);
  return items === undefined ? fields : fields + mostValues(items) * (maxItems ?? Number.POSITIVE_INFINITY);
}

describe('the number of values in a body', () => {
  it.each(endpoints.map(({ name, request }) => [name, request] as const))(
    '%s: leaves room for many fields that the service does not know',
    (_name, request) => {
      expect(mostValues(request as Schema)).toBeLessThan(MAX_BODY_VALUES - 1000);
    },
  );

  it('follows from the schemas', () => {
    const all = Object.fromEntries(endpoints.map(({ name, request }) => [name, mostValues(request as Schema)]));
    expect(all).toMatchObject({ 'auth/token': 3, 'events/replay': 104, 'sandbox/orders/advance': 10_005 });
  });
});
