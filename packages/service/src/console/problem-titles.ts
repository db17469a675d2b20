export type { AlertSentence } from '../alerts/alert-wordings.js';
export type { RefusalCode } from '../operator/refusal-codes.js';
export type { ResultCode } from '../operator/result-texts.js';

/** The problem types of the console API, each with its status and default title. */
export const PROBLEM_TITLES = {
  'not-signed-in': [401, 'Sign in first'],
  'wrong-proof': [401, 'Name, password or code are wrong'],
  'code-needed': [401, 'A code of your authenticator app is needed'],
  csrf: [403, 'The request does not carry the token of this session'],
  'not-allowed': [403, 'Your role may not do this'],
  'proof-needed': [403, 'Prove again who you are'],
  'not-found': [404, 'There is no such thing'],
  'not-possible': [409, 'This cannot be done'],
  invalid: [400, 'The request is not valid'],
  'too-large': [413, 'The request is too large'],
  locked: [429, 'Too many wrong tries'],
  busy: [503, 'Try again in a moment'],
  fault: [500, 'Something went wrong on our side'],
} as const satisfies Record<string, readonly [number, string]>;
export type ProblemKind = keyof typeof PROBLEM_TITLES;
