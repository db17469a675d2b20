import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { createSigner } from '../../src/delivery/receivers/push-signer.js';

const TEXTS = ['', 'POST\n/events\n\nabc\n1767225600000\nnonce\n4711', '路径 ü', 'x'.repeat(5_000)];

it.each([1, 31, 32, 63, 64, 65, 200])(
  'a key of %i bytes signs as HMAC-SHA256 does, one text after another',
  (length) => {
    const secret = Buffer.alloc(length, 'key of a channel');
    const sign = createSigner(secret);
    for (const text of TEXTS) expect(sign(text)).toBe(createHmac('sha256', secret).update(text).digest('base64'));
  },
);
