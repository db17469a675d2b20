import { expect } from 'vitest';

/** What the sandbox adds for an encrypted field that is not encrypted at all. */
export const IN_THE_CLEAR = ' (prefix): it begins neither with svc_aes_v2: nor with svc_aes_v1:';

/** Exactly the six fields, whatever happened. */
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
