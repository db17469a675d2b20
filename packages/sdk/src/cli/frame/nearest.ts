/** Of the names, the one that was probably meant; undefined when none is near. */
export function findNearest(typed: string, names: readonly string[]): string | undefined {
  const room = typed.length < 4 ? 1 : 2;
  const near = names
    .map((name) => ({ name, distance: distanceBetween(typed, name) }))
    .filter(({ distance }) => distance > 0 && distance <= room)
    .toSorted((one, other) => one.distance - other.distance);
  return near[0]?.name;
}

/** How many letters have to be added, left out or changed to make one of the other. */
function distanceBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (const [above, letter] of [...one].entries()) {
    const next = [above + 1];
    for (let place = 1; place <= other.length; place += 1) {
      const changed = (row[place - 1] ?? 0) + (letter === other[place - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[place] ?? 0) + 1, (next[place - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
