import { readKindOptions } from '../kind-options.mjs';

export const ROWS = ['lists', 'totals', 'search', 'overview', 'failed', 'payments', 'others', 'figures', 'writes'];

export const HELP = `npm run bench -- console [options]

  --orders N    to be read from (1000000); 10000000 takes some 25 GB of disk
  --channels N  that have them, 1 to 1000 (20)
  --runs N      of each read, each with other values, 1 to 1000 (30)
  --rows A,B    only these: ${ROWS.join(', ')}
  --data D      keep the server's files in the folder D. A later run with D reads the same orders again
  --postgres D  on a server whose programs are in D, with a cluster of its own (Debian: /usr/lib/postgresql/15/bin)
                in place of the embedded one, whose build is made to be small
`;

const numbers = {
  orders: { usual: 1_000_000, full: 10_000_000 },
  channels: { usual: 20, most: 1_000 },
  runs: { usual: 30, most: 1_000 },
};

export const readOptions = (args) => readKindOptions(args, { numbers, rows: ROWS, texts: ['data'] });
