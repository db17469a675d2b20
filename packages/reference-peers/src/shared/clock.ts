/** What time it is, in Unix milliseconds: given by whoever starts a peer, so that a test can say it. */
export interface Clock {
  now(): number;
}
