import { readKindOptions } from '../kind-options.mjs';

export const HELP = `npm run bench -- overload [options]

  --seconds N     of each part: what can be sustained, far too much of it, and after that, 3 to 30 (8)
  --times N       how many times too much, 2 to 20 (10)
  --rows A,B      a2 (creations in mode A.2 over the bridge, the default), b (creations in mode B: of those a node can do so
                  many that ten times as many are more than callers on the same machine can send; try --times 3)
  --connections N connections that the callers have open before they send, 1 to 10000 (2000); they open more if they need them
  --proxy PATH    a haproxy in front of the node, with the backend of deploy/haproxy/haproxy.cfg
`;

export const readOptions = (args) =>
  readKindOptions(args, {
    numbers: {
      seconds: { usual: 8, most: 30 },
      times: { usual: 10, most: 20 },
      connections: { usual: 2_000, most: 10_000 },
    },
    texts: ['proxy'],
    rows: ['a2', 'b'],
    usualRows: ['a2'],
  });
