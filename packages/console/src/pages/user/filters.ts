/** The channel and its user id, which together identify a user. */
export const USER_FILTERS = ['appId', 'channelUserId'] as const;
