import { randomBytes } from 'node:crypto';
import { HEADERS } from '@perennial/wire';
import { inParallel, range, tally } from './caller.mjs';
import { runAlone } from './run.mjs';

const WIDTH = 32;
const NOTICES = '/gateway/v1/notices/MOCKPAY';
const noise = () => randomBytes(32).toString('base64');

/** What somebody can send who knows no secret. Each comes from the address that the bystander calls from too. */
const kindsOf = (attacker, { appId }, overheard) => {
  const badlySigned = (headers) =>
    attacker.signed('products/list', {}, { headers: { [HEADERS.signature]: noise(), ...headers } });
  return [
    { expects: '401001', request: () => ({ ...overheard, headers: {} }) },
    { expects: '401002', request: () => badlySigned({ [HEADERS.appId]: 'test_nobody' }) },
    { expects: '401002', request: () => badlySigned({ [HEADERS.appId]: appId }) },
    {
      expects: '401003',
      request: () => badlySigned({ [HEADERS.appId]: appId, [HEADERS.timestamp]: '1700000000000' }),
    },
    { expects: '401004', request: () => overheard },
  ];
};

export const attack = {
  name: 'strangers',
  about: 'requests and notices that nobody has signed rightly, from the address of a channel that does nothing wrong',
  numbers: {
    requests: { usual: 5_000, short: 1_000, means: 'requests to the interface' },
    notices: { usual: 2_000, short: 350, means: 'forged notices' },
  },
  mayEndAs: ['401001', '401002', '401003', '401004', '429001'],

  async prepare({ stage }) {
    const attacker = await stage.usualAttacker();
    // A request that was overheard on its way can be sent again, but not be signed anew.
    const overheard = attacker.signed('products/list', {});
    await attacker.send(overheard);
    return { attacker, overheard };
  },

  async run({ stage, options, signal, prepared: { attacker, overheard } }) {
    const kinds = kindsOf(attacker, stage.bystander, overheard);
    const logged = (await stage.log()).length;
    const asked = await inParallel(WIDTH, range(options.requests), signal, async (n) => {
      const { expects, request } = kinds[n % kinds.length];
      return answerTo(request(), expects);
    });
    const told = await inParallel(WIDTH, range(options.notices), signal, () => answerTo(forgedNotice(), '401002'));
    const answers = [...asked, ...told];
    const wrong = answers.filter(
      ({ code, expects }) => code !== expects && !['429001', 'no answer', 'cut short'].includes(code),
    );
    return {
      ended: tally(answers.map(({ code }) => code)),
      figures: { 'KB written to the log': Math.round(((await stage.log()).length - logged) / 1024) },
      findings: wrong.length === 0 ? [] : [`${wrong.length} were answered with another code than theirs`],
    };

    async function answerTo(request, expects) {
      const { code } = await attacker.send(request, { signal });
      return { code, expects };
    }
  },
};

function forgedNotice() {
  return {
    method: 'POST',
    path: NOTICES,
    headers: {
      'Content-Type': 'application/json',
      'X-Bridge-Timestamp': String(Date.now()),
      'X-Bridge-Nonce': randomBytes(16).toString('hex'),
      'X-Bridge-Request-Id': 'N1',
      'X-Bridge-Signature': noise(),
    },
    body: Buffer.from('{"kind":"DEBIT","noticeNo":"N1","attemptNo":"100000001000000101","status":"SUCCESS"}'),
  };
}

await runAlone(import.meta.url, attack);
