import { PATH_PREFIX, trimSlashes } from '@perennial/wire';
import { findNearMiss } from './near-miss.js';

/** Sandbox only: names the endpoint that the client probably meant by a wrong path. Undefined if there is none. */
export function explainMissedPath(path: string, paths: ReadonlySet<string>): string | undefined {
  const meant = findMeant(path, paths);
  if (meant !== undefined) {
    const mistakes = listMistakes(path).join(' and ');
    return `POST ${meant} was probably meant${mistakes === '' ? '' : `: the path ${mistakes}`}`;
  }
  return path.startsWith(PATH_PREFIX) ? undefined : `paths of endpoints begin with ${PATH_PREFIX}`;
}

/** Finds the endpoint whose name is the end of the path, ignoring extra slashes and case, or else a similar name. */
function findMeant(path: string, paths: ReadonlySet<string>): string | undefined {
  const plain = `/${path.toLowerCase().split('/').filter(Boolean).join('/')}`;
  const ending = [...paths].filter((one) => plain.endsWith(`/${one.slice(PATH_PREFIX.length)}`));
  // Takes the longest name, because a path that ends with `sandbox/orders/advance` also ends with `orders/advance`.
  const [longest] = ending.sort((a, b) => b.length - a.length);
  return longest ?? (path.startsWith(PATH_PREFIX) ? findNearMiss(path, paths) : undefined);
}

function listMistakes(path: string): string[] {
  return [
    ...(path.toLowerCase().replace(/\/+/g, '/').startsWith(PATH_PREFIX) ? [] : [`lacks the prefix ${PATH_PREFIX}`]),
    ...(/.\/$/.test(path) ? ['ends with a slash'] : []),
    ...(/\/\//.test(trimSlashes(path)) ? ['has two slashes in a row'] : []),
    ...(path === path.toLowerCase() ? [] : ['has capital letters']),
  ];
}
