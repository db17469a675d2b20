/**
 * The most common leaked passwords of twelve or more characters are made of these words. Longer words come before words
 * that they contain.
 */
const WORDS =
  /administrator|password|passw|welcome|iloveyou|letmein|princess|football|baseball|superman|sunshine|whatever|starwars|computer|internet|michael|charlie|jennifer|jessica|liverpool|chelsea|barcelona|trustno|dragon|monkey|master|shadow|hello|login|admin|user|root|test|temp|default|secret|change|correct ?horse ?battery ?staple|woaini|wodemima|mima|qwertyuiop|qwerty|asdfghjkl|asdfgh|zxcvbnm|zxcvbn|qazwsxedc|qazwsx|1q2w3e4r5t6y|1q2w3e4r|1qaz2wsx3edc|1qaz2wsx|q1w2e3r4t5y6|q1w2e3r4|perennial|company|spring|summer|autumn|winter|monday|friday|january|december/g;

const LEET: Readonly<Record<string, string>> = { '@': 'a', $: 's', '!': 'i', 0: 'o', 3: 'e', 4: 'a', 5: 's', 7: 't' };

/**
 * Returns true if neighbouring characters differ by at most one, as in 123456, fedcba and aaa, or if the text is a
 * number that begins with all digits in order.
 */
function isSequence(text: string): boolean {
  const steps = [...text].slice(1).map((character, place) => character.charCodeAt(0) - text.charCodeAt(place));
  return steps.every((step) => Math.abs(step) <= 1) || /^(?:0?123456789|987654321)\d*$/.test(text);
}

/**
 * A password with common words must contain at least this many different characters besides these words. Years and 123…
 * do not count.
 */
const MIN_OWN = 6;

/**
 * Returns true if the password is common: it repeats a short part, is a sequence, or is made of common words with few
 * other characters. Uses rules instead of a long list, because most leaked passwords are words with digits added.
 */
export function isCommonPassword(password: string): boolean {
  const lower = password.normalize('NFKC').toLowerCase();
  if (/^(.{1,6})\1+.{0,3}$/u.test(lower) || isSequence(lower)) return true;
  const unmasked = lower.replaceAll(/[@$!03457]/g, (character) => LEET[character] ?? character);
  return [lower, unmasked].some((text) => {
    const rest = text.replaceAll(WORDS, '');
    const own = rest.replaceAll(/(?:19|20)\d\d|1234567890|123456789|12345678|1234567|123456|12345|1234|123/g, '');
    return rest !== text && new Set(own).size < MIN_OWN;
  });
}
