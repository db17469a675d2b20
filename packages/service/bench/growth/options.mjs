import { readKindOptions } from '../kind-options.mjs';
import { UsageError } from '../options.mjs';

export const ROWS = ['create', 'query', 'list', 'search', 'renew B', 'renew A', 'deliver'];

export const HELP = `npm run bench -- growth [options]

  --sizes A,B   of the one database that grows, in orders, each larger than the one before (10000,1000000,10000000)
                10000000 take some 25 GB of disk and half an hour
  --seconds N   of each run of what clients send (2)
  --runs N      of each row, 1 to 20; medians are shown (5)
  --due N       orders of mode A that are renewed in each run (500); of mode B four times as many
  --events N    that are delivered in each run (5000)
  --rows A,B    only these: ${ROWS.join(', ')}
  --plot FILE   writes a plot, as SVG
  --postgres D  on a server whose programs are in D, with a cluster of its own (Debian: /usr/lib/postgresql/15/bin)
                in place of the embedded one, whose build is made to be small
`;

const numbers = {
  seconds: { usual: 2, most: 60 },
  runs: { usual: 5, most: 20 },
  due: { usual: 500, most: 100_000 },
  events: { usual: 5_000, most: 1_000_000 },
};

export function readOptions(args) {
  const options = readKindOptions(args, { numbers, rows: ROWS, texts: ['sizes', 'plot'] });
  if (!options) return undefined;
  const sizes = (options.sizes ?? '10000,1000000,10000000').split(',').map(Number);
  const isSize = (size, at) => Number.isInteger(size) && size % 2 === 0 && size > (sizes[at - 1] ?? 0);
  if (!sizes.every(isSize))
    throw new UsageError('--sizes must be even numbers of orders, each larger than the one before');
  if (sizes[0] < 20 * options.due) throw new UsageError('--due may be a twentieth of the smallest size');
  return { ...options, sizes };
}
