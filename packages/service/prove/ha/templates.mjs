import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const FOLDER = new URL('../../../../deploy/patroni/', import.meta.url);

/** A file of deploy/patroni with its `${NAMES}` filled in; one that has no value is an error. */
export async function filledIn(file, values) {
  const text = await readFile(fileURLToPath(new URL(file, FOLDER)), 'utf8');
  // A comment may show a name as it is.
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name) => {
    if (values[name] === undefined) throw new Error(`deploy/patroni/${file}: ${name} has no value`);
    return String(values[name]);
  });
}
