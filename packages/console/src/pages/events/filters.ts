/** The filters of the event list. A replay of all matching events uses the same filters. */
export const EVENT_LIST_FILTERS = ['status', 'eventType', 'orderNo', 'from', 'to'] as const;
/** The channel, and the event open beside the list. */
export const EVENT_PLACE = ['appId', 'event'] as const;
export const EVENT_FILTERS = [...EVENT_PLACE, ...EVENT_LIST_FILTERS] as const;
