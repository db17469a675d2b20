import { expect } from 'vitest';

/** Exactly the six fields, whatever happened. */
export function expectEnvelope(envelope: unknown, code: string): void {
  expect(envelope).toEqual({
    code,
    message: expect.stringMatching(/./),
    data: code === '0' ? expect.anything() : null,
    requestId: expect.stringMatching(/^[\x21-\x7e]{1,128}$/),
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    success: code === '0',
  });
}
