import type { BenefitPosition } from './page-sql.js';

/** The number of concurrent claims, so that a slow supplier does not delay the others. */
const AT_ONCE = 4;
/** No claim is started after this. A supplier may take 8 s, and users hardly wait longer than twice that. */
const BEGIN_WITHIN_MS = 8_000;

/**
 * Claims each benefit, and stores the results. A failed claim does not affect the others, and the user can retry it.
 * Throws only if none could be claimed.
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
