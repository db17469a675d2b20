import { readKindOptions } from '../kind-options.mjs';

export const ROWS = ['rate', 'pinned', 'backlog', 'hung', 'peers'];

export const HELP = `npm run bench -- deliveries [options]

  --events N    of the engine's runs (100000)
  --jobs N      of each peer's runs, a job per event (20000)
  --backlog N   of the row that has many events behind it (200000)
  --burst N     written at once, a tenth of them for a receiver that hangs (5000)
  --runs N      of each row but backlog and hung, 1 to 20; medians are shown (3)
  --full        --backlog 1000000: some 3 GB of disk
  --processes N that send, of the engine and of each peer, 1 to 16 (1)
  --rows A,B    only these: ${ROWS.join(', ')}
  --postgres D  on a server whose programs are in D, with a cluster of its own (Debian: /usr/lib/postgresql/15/bin)
                in place of the embedded one, whose build is made to be small
`;

const numbers = {
  events: { usual: 100_000 },
  jobs: { usual: 20_000 },
  backlog: { usual: 200_000, full: 1_000_000 },
  burst: { usual: 5_000 },
  runs: { usual: 3, most: 20 },
  processes: { usual: 1, most: 16 },
};

export const readOptions = (args) => readKindOptions(args, { numbers, rows: ROWS });
