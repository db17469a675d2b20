import { type Example, STORY_TIME } from './cast.js';

const CALLBACK = 'https://shop.example/events';

const SETTINGS = {
  callbackUrls: [{ forEvents: '*', url: CALLBACK }],
  encryptedFields: 'v2',
  acceptsV1: true,
  upcomingNoticeDays: 0,
  formerSecretUntil: null,
};

/** The examples in which a channel looks at its own requests and changes its settings. */
export const OWN_CHANNEL: readonly Example[] = [
  {
    endpoint: 'sandbox/channel/set',
    name: 'callback',
    summary: 'A callback address, and encrypted fields in v2',
    request: { callbackUrl: CALLBACK, encryptedFields: 'v2' },
    answer: SETTINGS,
  },
  {
    endpoint: 'sandbox/channel/set',
    name: 'new-secret',
    summary: 'A new app secret, with an overlap of a day',
    request: { appSecretEncrypted: 'ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=', overlapHours: 24 },
    answer: { ...SETTINGS, formerSecretUntil: '2026-01-16 12:00:00' },
  },
  {
    endpoint: 'sandbox/events/test',
    name: 'test-push',
    summary: 'A receiver that answers well',
    request: {},
    answer: {
      eventId: 'test-5f0c1d2e3a4b5c6d',
      url: CALLBACK,
      accepted: true,
      httpStatus: 200,
      answer: '{"code":"0"}',
      durationMs: 21,
    },
  },
  {
    endpoint: 'sandbox/requests/list',
    name: 'failed',
    summary: 'The latest refused request',
    request: { code: 'failed', size: 1 },
    answer: {
      requests: [
        {
          requestId: '6f1c1e0e-5d0b-4a53-9f7e-2f8d9f0f7a11',
          answeredAt: STORY_TIME,
          path: '/openapi/v1/orders/query',
          code: '420001',
          reason: 'no such order',
          httpStatus: 200,
          durationMs: 3,
          address: '203.0.113.7',
        },
      ],
      nextCursor: null,
    },
  },
];
