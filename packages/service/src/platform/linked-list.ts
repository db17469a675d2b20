/** An item's place in a list, by which it is taken out again. */
export interface Place<Item> {
  item: Item | undefined;
  previous: Place<Item> | undefined;
  next: Place<Item> | undefined;
}

/**
 * Items in the order in which they came, each of which can be taken out at any time. In place of a Set or a Map, for what comes and
 * goes a thousand times a second and has much hanging on it, such as requests under way. V8 gives a Set a new table whenever the
 * present one is full of deleted entries; once a table is an old object, so is each that follows. What stood in one that was given up
 * counts as alive until old objects are collected, so each collection of young ones copied whole requests that were over: 20 ms in
 * place of 7.
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

  /** What was taken out before is left alone. */
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
