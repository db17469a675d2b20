/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** From 0 inclusive to 1 exclusive. */
  fraction(): number;
  /** A whole number, both ends included. */
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(some: readonly T[]): T;
  digits(count: number): string;
}

/** mulberry32: small, fast and even enough for a story. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number) => low + Math.floor(fraction() * (high - low + 1));
  return {
    fraction,
    between,
    chance: (probability) => fraction() < probability,
    pick<T>(some: readonly T[]): T {
      const chosen = some[between(0, some.length - 1)];
      if (chosen === undefined) throw new Error('there is nothing to choose from');
      return chosen;
    },
    digits: (count) => Array.from({ length: count }, () => between(0, 9)).join(''),
  };
}
