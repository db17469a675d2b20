/** A user's key: the channel and the channel's user id. */
export const USER_FILTERS = ['appId', 'channelUserId'] as const;
