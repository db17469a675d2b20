import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Answer, createAnswerReader } from '../../src/platform/http-client/answer.js';
import { BadAnswer } from '../../src/platform/http-client/incoming-bytes.js';

/** Reads these bytes in packets of these sizes, followed by the end of the connection. Returns the answer, or 'bad'. */
function read(bytes: Buffer, packets: readonly number[]): Answer | 'bad' {
  const reader = createAnswerReader({ maxBytes: 64 * 1024, encoding: 'utf8' });
  try {
    for (let at = 0, index = 0; at < bytes.length; index += 1) {
      const size = packets[index % packets.length] ?? bytes.length;
      // Passes a copy. Like a real packet, the copy has no bytes beyond its end that the reader could use by mistake.
      const answer = reader.add(Buffer.from(bytes.subarray(at, at + size)));
      if (answer) return answer;
      at += size;
    }
    return reader.endAtClose();
  } catch (error) {
    if (error instanceof BadAnswer) return 'bad';
    throw error;
  }
}

const packets = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 });
const body = fc.string({ unit: 'grapheme', maxLength: 200 });
const header = fc
  .tuple(fc.stringMatching(/^[A-Za-z-]{1,12}$/), fc.stringMatching(/^[ -~]{0,30}$/))
  .filter(([name]) => !/^(content-length|transfer-encoding|connection)$/i.test(name))
  .map(([name, value]) => `X-${name}: ${value}\r\n`);
const head = fc
  .tuple(fc.integer({ min: 200, max: 599 }), fc.array(header, { maxLength: 5 }), fc.boolean())
  .filter(([status]) => status !== 204 && status !== 304)
  .map(([status, headers, hasInterim]) => ({
    status,
    text: `${hasInterim ? 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n' : ''}HTTP/1.1 ${status} Reason\r\n${headers.join('')}`,
  }));

/** Returns a body encoded in chunks of these sizes, which may split a character. */
function inChunks(bytes: Buffer, sizes: readonly number[]): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const chunk = bytes.subarray(at, at + (sizes[index % sizes.length] ?? bytes.length));
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
    at += chunk.length;
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

const framing = fc.constantFrom('length', 'chunked', 'until-close' as const);
const answers = fc.tuple(head, body, framing, packets).map(([{ status, text }, said, how, sizes]) => {
  const content = Buffer.from(said);
  const bytes = {
    length: () => [`${text}Content-Length: ${content.length}\r\n\r\n`, content],
    chunked: () => [`${text}Transfer-Encoding: chunked\r\n\r\n`, inChunks(content, sizes)],
    'until-close': () => [`${text}\r\n`, content],
  }[how as 'length' | 'chunked' | 'until-close']();
  return { status, said: content.toString(), bytes: Buffer.concat(bytes.map((part) => Buffer.from(part as string))) };
});

describe('a random answer', () => {
  it('is read as it was written, however it is split into packets', () => {
    fc.assert(
      fc.property(answers, packets, ({ status, said, bytes }, sizes) => {
        expect(read(bytes, sizes)).toMatchObject({ status, body: said, isCut: false });
      }),
      { numRuns: 500 },
    );
  });

  it('with changed bytes has one meaning, however it is split into packets, or is refused', () => {
    const change = fc.tuple(fc.nat(), fc.constantFrom(0, 9, 10, 13, 32, 48, 49, 58, 59, 65, 97, 255));
    fc.assert(
      fc.property(answers, fc.array(change, { minLength: 1, maxLength: 4 }), packets, ({ bytes }, changes, sizes) => {
        const changed = Buffer.from(bytes);
        for (const [at, byte] of changes) changed[at % changed.length] = byte;
        const whole = read(changed, [changed.length]);
        const inPackets = read(changed, sizes);
        if (whole === 'bad' || inPackets === 'bad') expect(inPackets).toBe(whole);
        // Does not compare keepAlive. It is false if the reader has bytes after the answer, but in packets these bytes
        // may arrive only after the answer was read.
        else expect({ ...inPackets, keepAlive: true }).toEqual({ ...whole, keepAlive: true });
      }),
      { numRuns: 2_000 },
    );
  });

  it('that was truncated is never taken as complete, unless the end of the connection ends it', () => {
    fc.assert(
      fc.property(answers, fc.nat(), packets, ({ bytes }, at, sizes) => {
        const part = bytes.subarray(0, at % bytes.length);
        const answer = read(part, sizes);
        if (answer === 'bad') return;
        expect(/\r\ncontent-length|\r\ntransfer-encoding/i.test(part.toString('latin1'))).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });
});
