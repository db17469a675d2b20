/** Slow or silent clients hold a socket, never more: headers in 10 s, the whole request in 30 s, 75 s between two. */
export const HTTP_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  /** How often the first two are checked; Node's own 30 s would let them be three times as long. */
  connectionsCheckingInterval: 1_000,
  /** How long a client that is refused while it sends may go on sending, so that it reads the refusal. */
  lingerTime: 5_000,
  maxHeaderSize: 16_384,
  /** How long a client may read nothing of its answer. */
  writeTimeout: 30_000,
  /** How long a long answer may take in all. */
  answerTimeout: 300_000,
  /** How long a node that is stopping waits for long answers. */
  drainTime: 10_000,
  longAnswers: 64,
  longAnswersPerChannel: 16,
  longAnswersWaiting: 256,
  longAnswersWaitingPerChannel: 64,
  longAnswerWait: 5_000,
  crowdedKeepAliveTimeout: 5_000,
  connections: 2_000,
  connectionsInAll: 4_000,
};
export type HttpLimits = Readonly<typeof HTTP_LIMITS>;
