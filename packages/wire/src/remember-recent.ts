/** A prime above the days of a year: the same time of its days, in seconds or milliseconds, has as many places. */
const PLACES = 367;

/** The same function with a memory of what it has just made: thousands of texts are made of the same few times within a second. */
export function rememberRecent(toText: (value: number) => string): (value: number) => string {
  const values = new Array<number>(PLACES).fill(Number.NaN);
  const texts = new Array<string>(PLACES).fill('');
  return (value) => {
    const place = Math.abs(value % PLACES);
    const known = texts[place];
    if (known !== undefined && values[place] === value) return known;
    const text = toText(value);
    // A value that is no whole number has no place.
    if (known !== undefined) {
      values[place] = value;
      texts[place] = text;
    }
    return text;
  };
}
