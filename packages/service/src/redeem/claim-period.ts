import type { BenefitPosition } from './store/benefits-sql.js';

/** The number of claims that run at the same time, so that a slow supplier does not delay the other claims. */
const AT_ONCE = 4;
/** No further claim is started after this time. A supplier may take 8 s, and users hardly wait longer than 16 s. */
const BEGIN_WITHIN_MS = 8_000;

/**
 * Claims the benefits, as many as can begin in time. A failed claim does not affect the other claims, and the user can
 * retry the failed claim. Throws only if every claim failed.
 */
export async function claimEach(
  benefits: readonly BenefitPosition[],
  claim: (one: BenefitPosition) => Promise<unknown>,
): Promise<void> {
  const begun = performance.now();
  const waiting = [...benefits];
  const failures: unknown[] = [];
  async function claimNext(): Promise<void> {
    for (let one = waiting.shift(); one; one = waiting.shift()) {
      if (performance.now() - begun > BEGIN_WITHIN_MS) return;
      await claim(one).catch((error: unknown) => failures.push(error));
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, claimNext));
  if (failures.length > 0 && failures.length === benefits.length) throw failures[0];
}
