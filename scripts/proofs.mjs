// The proofs that a release needs besides `npm test`. `npm run prove -- --list` prints this table.
const service = (folder, ...names) => names.map((name) => `packages/service/test/${folder}/${name}.test.ts`);

/**
 * `minutes`: the duration of the whole proof on two cores, then the duration with --short. `npm run prove -- ci` runs the
 * proofs that have a short form. `tests`: files that `npm test` does not run. `also`: files of `npm test` that do more in a proof. `program`: a
 * program in packages/service/prove that runs after the tests.
 */
export const PROOFS = [
  {
    name: 'languages',
    proves: 'the clients in other languages, the guides, the examples; whole: the collections in Newman and Bruno',
    needs: ['curl', 'go', 'java', 'javac', 'openssl', 'php', 'python3'],
    minutes: [3, 1],
    tests: [...service('kit', 'languages', 'collection'), ...service('docs', 'examples')],
    program: 'collections.mjs',
  },
  {
    name: 'looks',
    proves: 'every page on every screen in both languages, its contrast, and what else a browser shows of it',
    needs: ['chromium', 'chinese-font'],
    minutes: [8, 2],
    tests: [
      ...service('browser', 'console-looks', 'console-frame', 'console-branding', 'console-settlement', 'pages'),
      ...service('browser', 'console-support-call', 'console-refunds', 'console-second-person'),
      ...service('kit', 'developers-browser', 'developers-console', 'shop-browser', 'sdk-browser'),
      ...service('redeem', 'looks'),
    ],
  },
  {
    name: 'abuse',
    proves: 'attacks harm no other channel, and get nothing that they must not get',
    needs: [],
    minutes: [1, 1],
    tests: service('abuse', 'abuse'),
  },
  {
    name: 'bridges',
    proves:
      'the bridges to Stripe and Alipay through kill -9, and that the check of bridges finds what is wrong with one',
    needs: [],
    minutes: [8, 2],
    tests: [
      ...service('bridge-check', 'sins', 'faults', 'alipay', 'command', 'example-bridge'),
      ...service('crash', 'creates-over-stripe', 'creates-over-alipay'),
      'packages/bridge-stripe/test/bridge.test.ts',
      ...service('refunds', 'over-bridge'),
      ...['crash', 'load', 'others', 'stop'].map((name) => `packages/bridge-kit/test/${name}.test.ts`),
    ],
  },
  {
    name: 'crash',
    proves: 'nothing is lost or done twice when nodes, institutions and databases are killed',
    needs: [],
    minutes: [17, 2],
    isAlone: true,
    tests: [
      ...service('crash', 'claims', 'database-away', 'full-disk', 'kill-everything', 'notices', 'renewals-billed'),
      ...service('crash', 'data-key-rotation', 'same-card-over-bridge'),
      ...service('histories', 'cut-off'),
    ],
    also: [
      ...service('crash', 'creates-over-bridge', 'deliveries', 'renewals-over-bridge'),
      ...service('histories', 'histories'),
    ],
  },
  {
    name: 'races',
    proves: 'requests and nodes that want the same at the same moment',
    needs: [],
    minutes: [1, 1],
    tests: [
      ...service('orders', 'races'),
      ...service('races', 'two-nodes'),
      ...service('agreements', 'same-card-races', 'ending-races'),
    ],
  },
  {
    name: 'deliveries',
    proves: 'many nodes send to many receivers: shards, locks, receivers that hang, secrets and addresses that change',
    needs: [],
    minutes: [1, 1],
    tests: [
      ...service('webhooks', 'shards', 'shared-shard', 'isolation', 'locks', 'secrets', 'addresses-moving'),
      ...service('webhooks', 'channels-large', 'channels-replay', 'push-client-process', 'ranges'),
    ],
  },
  {
    name: 'kit',
    proves: 'what a channel’s developer is given: the command line, the diagnosis, the check of a receiver, the SDK',
    needs: [],
    minutes: [1, 1],
    tests: service('kit', 'listen', 'diagnosis', 'check-receiver', 'trigger', 'sdk', 'developers', 'openapi'),
  },
  {
    name: 'processes',
    proves: 'starting, stopping and migrating real processes, and databases that fail under them',
    needs: ['haproxy', 'initdb', 'nginx', 'pgbouncer'],
    minutes: [2, 2],
    tests: [
      ...service('start', 'stop', 'broken-connection', 'copied-database', 'waiting', 'monitoring', 'migrations'),
      ...service('cli', 'commands', 'migrate', 'embedded', 'private-files', 'refusals'),
      ...['crash', 'identity'].map((name) => `packages/embedded-postgres/test/${name}.test.ts`),
      ...service('database', 'replicas', 'pooler', 'no-room', 'unfit-server'),
      ...service('alerts', 'processes'),
      ...service('backup', 'restored'),
      ...service('deploy', 'programs'),
    ],
  },
  {
    name: 'size',
    proves: 'large tables, long answers and slow readers',
    needs: [],
    minutes: [1, 1],
    tests: [
      ...service('orders', 'long-answers', 'slow-readers'),
      ...service('endpoints', 'large-lists'),
      ...service('pipeline', 'large-bodies'),
      ...service('engine', 'housekeeping-events'),
      ...service('settlement', 'adding-up'),
      ...service('reconciliation', 'any-day'),
    ],
  },
  {
    name: 'rolling',
    proves: 'three nodes behind haproxy are restarted in turn, and no request fails; takes ROUNDS',
    needs: ['haproxy'],
    minutes: [2, 1],
    program: 'rolling.ts',
  },
  {
    name: 'upgrade',
    proves: 'nodes of an older version and of this one on one database; takes a REF, or finds one',
    needs: [],
    minutes: [3, 2],
    program: 'upgrade.ts',
  },
  {
    name: 'packages',
    proves: 'a release built twice is the same; its npm packages start and serve in an empty folder',
    needs: [],
    minutes: [4],
    program: 'packages.mjs',
  },
  {
    name: 'deb',
    proves: 'the Debian package: installed, run by its unit’s command line, upgraded, removed, purged; needs root',
    needs: ['dpkg-deb', 'psql'],
    minutes: [4],
    program: 'deb.ts',
  },
  {
    name: 'image',
    proves:
      'the container image, read-only and not as root; whole: compose.yaml. Needs root; takes a FOLDER with Debian 12',
    needs: ['debootstrap', 'podman', 'podman-compose', 'runc'],
    minutes: [10],
    program: 'image.ts',
  },
  {
    name: 'matrix',
    proves: 'the packed service on each supported Node and PostgreSQL; short: the oldest and the newest of both',
    needs: [],
    minutes: [4, 2],
    program: 'matrix.ts',
  },
  {
    name: 'ha',
    proves: 'three nodes on a Patroni cluster survive twenty faults; short: three of them',
    needs: ['openssl'],
    minutes: [25, 5],
    program: 'ha.mjs',
  },
  {
    name: 'cells',
    proves: 'a cell moves to another server under load, through eight faults; short: one of them',
    needs: ['haproxy', 'initdb', 'openssl'],
    minutes: [11, 2],
    program: 'cells.mjs',
  },
  {
    name: 'signatures',
    proves: '20,000 wrong signatures, and whether their mistakes are named; takes COUNT and SEED',
    needs: [],
    minutes: [1, 1],
    program: 'signatures.mjs',
  },
];

export const movedTests = PROOFS.flatMap(({ tests = [] }) => tests);
