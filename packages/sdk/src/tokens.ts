import type { Token } from '@perennial/wire';
import { unlessAborted } from './clock.js';

/** How long before its expiry a token is renewed. */
const MARGIN_MS = 60_000;

/** Holds the client's access token. Concurrent callers share one renewal. */
export class Tokens {
  readonly #fetchToken: () => Promise<Token>;
  readonly #now: () => number;
  #held: { readonly accessToken: string; readonly until: number } | undefined;
  #renewal: Promise<string> | undefined;

  constructor(fetchToken: () => Promise<Token>, now: () => number) {
    this.#fetchToken = fetchToken;
    this.#now = now;
  }

  /** Returns the token. If a caller aborts, the renewal continues for the other callers. */
  async get(signal: AbortSignal | undefined): Promise<string> {
    signal?.throwIfAborted();
    if (this.#held !== undefined && this.#now() < this.#held.until) return this.#held.accessToken;
    this.#renewal ??= this.#renew();
    return signal === undefined ? this.#renewal : unlessAborted(this.#renewal, signal);
  }

  /** Drops a token that the service refused, unless another caller has already renewed it. */
  drop(accessToken: string | undefined): void {
    if (this.#held?.accessToken === accessToken) this.#held = undefined;
  }

  async #renew(): Promise<string> {
    try {
      const asked = this.#now();
      const { accessToken, expiresIn } = await this.#fetchToken();
      this.#held = { accessToken, until: asked + Number(expiresIn) * 1000 - MARGIN_MS };
      return accessToken;
    } finally {
      this.#renewal = undefined;
    }
  }
}
