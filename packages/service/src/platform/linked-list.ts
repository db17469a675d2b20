/** The place of an item in a list, by which it can be removed. */
export interface Place<Item> {
  item: Item | undefined;
  previous: Place<Item> | undefined;
  next: Place<Item> | undefined;
}

/**
 * A list in insertion order from which any item can be removed. Used instead of a Set for large, short-lived items such
 * as requests in flight. A Set moves its entries to new tables in V8's old generation, which keep deleted entries alive
 * until a full collection. Each young collection then copied finished requests and took 20 ms instead of 7.
 */
export class LinkedList<Item extends object> {
  private head: Place<Item> | undefined;
  private tail: Place<Item> | undefined;
  private count = 0;

  get size(): number {
    return this.count;
  }

  get first(): Item | undefined {
    return this.head?.item;
  }

  append(item: Item): Place<Item> {
    const place: Place<Item> = { item, previous: this.tail, next: undefined };
    if (this.tail) this.tail.next = place;
    else this.head = place;
    this.tail = place;
    this.count += 1;
    return place;
  }

  removeFirst(): Item | undefined {
    const { first } = this;
    if (this.head) this.remove(this.head);
    return first;
  }

  /** Does nothing if the item was already removed. */
  remove(place: Place<Item>): void {
    if (place.item === undefined) return;
    const { previous, next } = place;
    if (previous) previous.next = next;
    else this.head = next;
    if (next) next.previous = previous;
    else this.tail = previous;
    place.item = place.previous = place.next = undefined;
    this.count -= 1;
  }

  toArray(): Item[] {
    const items: Item[] = [];
    for (let place = this.head; place; place = place.next) if (place.item) items.push(place.item);
    return items;
  }
}
