/**
 * The number of cache slots: a prime above 366, so that the same time of day has a different slot on each day of a
 * year.
 */
const PLACES = 367;

/** Returns `toText` with a small cache, because thousands of answers in the same second contain the same few times. */
export function rememberRecent(toText: (value: number) => string): (value: number) => string {
  const values = new Array<number>(PLACES).fill(Number.NaN);
  const texts = new Array<string>(PLACES).fill('');
  return (value) => {
    const place = Math.abs(value % PLACES);
    const known = texts[place];
    if (known !== undefined && values[place] === value) return known;
    const text = toText(value);
    // A fraction or NaN has no slot, so its text is not cached.
    if (known !== undefined) {
      values[place] = value;
      texts[place] = text;
    }
    return text;
  };
}
