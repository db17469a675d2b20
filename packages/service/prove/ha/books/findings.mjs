export const lost = (text) => ({ kind: 'lost', text });
export const doubled = (text) => ({ kind: 'doubled', text });
export const wrong = (text) => ({ kind: 'wrong', text });

/** Returns a finding for each field with an unexpected value, including unexpected fields. */
export function differences(what, found, expected) {
  const names = new Set([...Object.keys(expected), ...Object.keys(found)]);
  return [...names]
    .filter((name) => found[name] !== expected[name])
    .map((name) => wrong(`${what}: ${name} is ${show(found[name])}, but must be ${show(expected[name])}`));
}

const show = (value) => (value === undefined ? 'missing' : JSON.stringify(value));

/** Returns a finding if something was recorded more or less often than `expected`. */
export function countFinding(found, expected, text) {
  if (found === expected) return [];
  return [(found < expected ? lost : doubled)(`${text}: ${found} instead of ${expected}`)];
}
