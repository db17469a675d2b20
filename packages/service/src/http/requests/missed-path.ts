import { CODES, PATH_PREFIX, Rejection } from '@perennial/wire';

/** Sandbox only: names the endpoint that the client probably meant by a wrong path. */
export function createMissedPath(path: string, paths: ReadonlySet<string>): Rejection {
  const { message } = CODES.PATH_NOT_FOUND;
  const meant = findMeant(path, paths);
  if (meant !== undefined) {
    const mistakes = listMistakes(path).join(' and ');
    const why = mistakes === '' ? '' : `: the path ${mistakes}`;
    return new Rejection('PATH_NOT_FOUND', `${message}; POST ${meant} was probably meant${why}`);
  }
  if (path.startsWith(PATH_PREFIX)) return new Rejection('PATH_NOT_FOUND');
  return new Rejection('PATH_NOT_FOUND', `${message}; paths of endpoints begin with ${PATH_PREFIX}`);
}

/** Finds the endpoint whose name is the end of the path. Ignores extra slashes and case. */
function findMeant(path: string, paths: ReadonlySet<string>): string | undefined {
  const plain = `/${path.toLowerCase().split('/').filter(Boolean).join('/')}`;
  const ending = [...paths].filter((one) => plain.endsWith(`/${one.slice(PATH_PREFIX.length)}`));
  // Takes the longest name, because a path that ends with `sandbox/orders/advance` also ends with `orders/advance`.
  return ending.sort((a, b) => b.length - a.length)[0];
}

function listMistakes(path: string): string[] {
  return [
    ...(path.toLowerCase().replace(/\/+/g, '/').startsWith(PATH_PREFIX) ? [] : [`lacks the prefix ${PATH_PREFIX}`]),
    ...(/.\/$/.test(path) ? ['ends with a slash'] : []),
    ...(/\/\//.test(path.replace(/\/+$/, '')) ? ['has two slashes in a row'] : []),
    ...(path === path.toLowerCase() ? [] : ['has capital letters']),
  ];
}
