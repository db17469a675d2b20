export type { AlertSentence } from '../alerts/alert-wordings.js';
export type { RefusalCode } from '../operator/refusal-codes.js';
export type { ResultCode } from '../operator/result-texts.js';

/** The problem types of the console API, each with its status and default title. */
export const PROBLEM_TITLES = {
  'not-signed-in': [401, 'Sign in first'],
  'wrong-proof': [401, 'The name, password or code is wrong'],
  'code-needed': [401, 'Enter a code of your authenticator app'],
  csrf: [403, 'The request lacks the CSRF token of this session; reload the page'],
  'not-allowed': [403, 'Your role does not allow this'],
  'proof-needed': [403, 'Confirm your identity again'],
  'codes-needed': [403, 'Your role needs codes of an authenticator app; set them up under Account'],
  'not-found': [404, 'Not found'],
  'not-possible': [409, 'This is not possible now'],
  invalid: [400, 'The request is invalid'],
  'too-large': [413, 'The request is too large'],
  'too-slow': [408, 'The upload was too slow and was stopped. Try again over a faster connection'],
  locked: [429, 'Too many wrong attempts'],
  busy: [503, 'The service is busy. Try again in a moment'],
  fault: [500, 'Something went wrong on our side'],
} as const satisfies Record<string, readonly [number, string]>;
export type ProblemKind = keyof typeof PROBLEM_TITLES;
