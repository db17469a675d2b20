import { MAX_BODY_BYTES } from '@perennial/wire';
import { range, tally } from './caller.mjs';
import { runAlone } from './run.mjs';

/** Each is one JSON object of nearly the largest size, in a field that the service does not know and has to ignore. */
const SHAPES = [
  { name: 'empty objects', open: '{"a":[{}', more: () => ',{}', close: ']}' },
  { name: 'one string of escapes', open: '{"a":"', more: () => '\\u00e9', close: '"}' },
  { name: 'nested arrays', open: '{"a":[0', more: () => `,${'['.repeat(28)}${']'.repeat(28)}`, close: ']}' },
  { name: 'many keys', open: '{"a":0', more: (n) => `,"key${n}":0`, close: '}' },
];

function bodyOf({ open, more, close }) {
  const parts = [open];
  for (let size = open.length + close.length, n = 0; ; n += 1) {
    const part = more(n);
    size += part.length;
    if (size > MAX_BODY_BYTES) break;
    parts.push(part);
  }
  return Buffer.from(parts.join('') + close);
}

export const attack = {
  name: 'large-bodies',
  about: `signed bodies of 1 MB, all at once: ${SHAPES.map(({ name }) => name).join(', ')}`,
  numbers: { requests: { usual: 60, short: 12, most: 500, means: 'bodies sent at once' } },
  mayEndAs: ['0', '400001', '429001'],

  async prepare({ stage }) {
    return { attacker: await stage.usualAttacker(), bodies: SHAPES.map(bodyOf) };
  },

  async run({ options, signal, prepared: { attacker, bodies } }) {
    // Signed beforehand: the attacker's own work is not to stretch the attack.
    const requests = range(options.requests).map((n) =>
      attacker.signed('products/list', undefined, { raw: bodies[n % bodies.length] }),
    );
    const replies = await Promise.all(requests.map((request) => attacker.send(request, { signal })));
    return { ended: tally(replies.map(({ code }) => code)) };
  },
};

await runAlone(import.meta.url, attack);
