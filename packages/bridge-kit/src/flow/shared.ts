/** Work in flight in this process, by number. Concurrent callers share its result. */
export class Shared<Key, Value> {
  readonly #underWay = new Map<Key, Promise<Value>>();

  of(key: Key): Promise<Value> | undefined {
    return this.#underWay.get(key);
  }

  run(key: Key, work: () => Promise<Value>): Promise<Value> {
    const running = work().finally(() => {
      if (this.#underWay.get(key) === running) this.#underWay.delete(key);
    });
    this.#underWay.set(key, running);
    return running;
  }

  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay.values());
  }
}
