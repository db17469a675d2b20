/** By which a user is known: a channel, and the id that the channel gave. */
export const USER_FILTERS = ['appId', 'channelUserId'] as const;
