/** A prime larger than the days in a year, so that the same time of day on different days maps to different slots. */
const PLACES = 367;

/** Returns `toText` with a small cache, because thousands of texts within a second use the same few times. */
export function rememberRecent(toText: (value: number) => string): (value: number) => string {
  const values = new Array<number>(PLACES).fill(Number.NaN);
  const texts = new Array<string>(PLACES).fill('');
  return (value) => {
    const place = Math.abs(value % PLACES);
    const known = texts[place];
    if (known !== undefined && values[place] === value) return known;
    const text = toText(value);
    // Fractions and NaN have no slot.
    if (known !== undefined) {
      values[place] = value;
      texts[place] = text;
    }
    return text;
  };
}
