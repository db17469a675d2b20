/** An item's place in a list, used to remove it. */
export interface Place<Item> {
  item: Item | undefined;
  previous: Place<Item> | undefined;
  next: Place<Item> | undefined;
}

/**
 * A list in insertion order that can remove any item. Replaces a Set for short-lived large items, such as requests in
 * flight. V8 keeps the deleted entries of a Set alive until old objects are collected, because the Set moves to new
 * tables in the old generation. So each young collection copied finished requests: 20 ms instead of 7.
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
