import type { Token } from '@perennial/wire';
import { unlessAborted } from './clock.js';

/** So long before its end a token is not used any more. */
const MARGIN_MS = 60_000;

/** The one access token of a client. Callers that come while it is being renewed share the renewal. */
export class Tokens {
  readonly #fetchToken: () => Promise<Token>;
  readonly #now: () => number;
  #held: { readonly accessToken: string; readonly until: number } | undefined;
  #coming: Promise<string> | undefined;

  constructor(fetchToken: () => Promise<Token>, now: () => number) {
    this.#fetchToken = fetchToken;
    this.#now = now;
  }

  /** A caller that gives up does not end the renewal that others wait for. */
  async get(signal: AbortSignal | undefined): Promise<string> {
    signal?.throwIfAborted();
    if (this.#held !== undefined && this.#now() < this.#held.until) return this.#held.accessToken;
    this.#coming ??= this.#renew();
    return signal === undefined ? this.#coming : unlessAborted(this.#coming, signal);
  }

  /** After a refusal. Another caller may have renewed it meanwhile: that one stays. */
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
      this.#coming = undefined;
    }
  }
}
