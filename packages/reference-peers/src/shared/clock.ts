/** The time in Unix milliseconds: passed in when a program is started, so that a test can set it. */
export interface Clock {
  now(): number;
}
