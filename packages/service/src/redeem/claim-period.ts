import type { BenefitPosition } from './page-sql.js';

/** So many are claimed at a time: one whose supplier is slow holds up none of the others. */
const AT_ONCE = 4;
/** After that nothing more is begun. A supplier may take 8 s, and nobody waits for a page much longer than twice that. */
const BEGIN_WITHIN_MS = 8_000;

/**
 * Claims each of them. What became of it is in the database: one that fails takes nothing from the others, and is claimed by the
 * next press. Throws only when none of them could be claimed.
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
