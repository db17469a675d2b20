import { performance } from 'node:perf_hooks';
import { inParallel, range, tally } from './caller.mjs';
import { runAlone } from './run.mjs';

const CONNECTIONS = 32;
const LIMITS = { rate: 20, burst: 40 };

export const attack = {
  name: 'over-the-rate',
  about: `a channel that may call ${LIMITS.rate} times a second calls as often as it can`,
  numbers: {
    requests: { usual: 200_000, short: 500, means: 'requests at most' },
    seconds: { usual: 10, short: 10 },
  },
  mayEndAs: ['0', '429001'],

  async prepare({ stage }) {
    return { attacker: await stage.ownAttacker({ products: [], ...LIMITS }) };
  },

  async run({ stage, options, signal, prepared: { attacker } }) {
    const nonces = () => noncesOf(stage, attacker.channel.appId);
    const before = await nonces();
    const since = performance.now();
    const codes = await inParallel(CONNECTIONS, range(options.requests), signal, async () => {
      const { code } = await attacker.call('products/list', {}, { signal });
      return code;
    });
    const seconds = (performance.now() - since) / 1000;
    const ended = tally(codes);
    const { 0: admitted = 0, 429001: refused = 0 } = ended;
    // One that was cut short may have been admitted.
    const ofRefused = Math.max(0, (await nonces()) - before - admitted - (ended['cut short'] ?? 0));
    return {
      ended,
      figures: {
        'refused in a second': Math.round(refused / seconds),
        'nonces written by refused requests': ofRefused,
      },
      findings: [
        ...(refused === 0 ? ['nothing was refused'] : []),
        ...(ofRefused > 0 ? [`${ofRefused} refused requests wrote a nonce`] : []),
      ],
    };
  },
};

async function noncesOf({ database }, appId) {
  const [{ count }] = await database.query(
    'select count(*)::integer as count from nonces join channels using (channel_id) where app_id = $1',
    [appId],
  );
  return count;
}

await runAlone(import.meta.url, attack);
