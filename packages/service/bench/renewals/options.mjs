import { readKindOptions } from '../kind-options.mjs';

export const ROWS = ['collected', 'idle', 'benefits', 'deducted', 'take-over', 'peers'];

export const HELP = `npm run bench -- renewals [options]

  --orders N    due at once in mode B (200000)
  --idle N      times as many orders that are not due, for the row that has them (10)
  --deducted N  due at once in mode A (40000)
  --jobs N      of each peer and mode, a job per order (20000)
  --full        --orders 1000000 --idle 10: some 12 GB of disk and a quarter of an hour
  --rows A,B    only these: ${ROWS.join(', ')}
  --postgres D  on a server whose programs are in D, with a cluster of its own (Debian: /usr/lib/postgresql/15/bin)
                in place of the embedded one, whose build is made to be small
`;

const numbers = {
  orders: { usual: 200_000, full: 1_000_000 },
  idle: { usual: 10 },
  deducted: { usual: 40_000 },
  jobs: { usual: 20_000 },
};

export const readOptions = (args) => readKindOptions(args, { numbers, rows: ROWS });
