/** Work in flight in this process, by number. Concurrent callers share its result. */
export class Shared<Key, Value> {
  readonly #inFlight = new Map<Key, Promise<Value>>();

  of(key: Key): Promise<Value> | undefined {
    return this.#inFlight.get(key);
  }

  run(key: Key, work: () => Promise<Value>): Promise<Value> {
    const running = work().finally(() => {
      if (this.#inFlight.get(key) === running) this.#inFlight.delete(key);
    });
    this.#inFlight.set(key, running);
    return running;
  }

  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight.values());
  }
}
