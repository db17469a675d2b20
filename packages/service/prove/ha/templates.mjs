import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const FOLDER = new URL('../../../../deploy/patroni/', import.meta.url);

/** Returns a file of deploy/patroni with its `${NAMES}` replaced. Throws if a name has no value. */
export async function filledIn(file, values) {
  const text = await readFile(fileURLToPath(new URL(file, FOLDER)), 'utf8');
  // Names in comments are replaced too.
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name) => {
    if (values[name] === undefined) throw new Error(`deploy/patroni/${file}: ${name} has no value`);
    return String(values[name]);
  });
}
