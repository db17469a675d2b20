import { expect } from 'vitest';

/** The sandbox's hint for an encrypted field that is plain text. */
export const IN_THE_CLEAR = ' (prefix): it begins with neither svc_aes_v2: nor svc_aes_v1:';

/** Checks that the envelope has exactly the six fields. */
export function expectEnvelope(envelope: unknown, code: string): void {
  expect(envelope).toEqual({
    code,
    message: expect.stringMatching(/./),
    data: code === '0' ? expect.anything() : null,
    requestId: expect.stringMatching(/^[\x21-\x7e]{1,1024}$/),
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    success: code === '0',
  });
}
