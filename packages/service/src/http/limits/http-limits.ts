/** Limits of the API's server. Times are in ms. */
export const HTTP_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  /** Interval at which Node checks headersTimeout and requestTimeout. With Node's default they could be 30 s late. */
  connectionsCheckingInterval: 1_000,
  /**
   * If a client is refused while it still sends, its input is discarded for this time, because otherwise the client
   * might lose the refusal.
   */
  halfCloseTimeout: 5_000,
  maxHeaderSize: 16_384,
  /** A client's connection is closed if the client reads nothing for this time. */
  writeTimeout: 30_000,
  /** Time limit of a whole long answer. */
  answerTimeout: 300_000,
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
