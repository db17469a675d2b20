/** What the list can be asked for; also what a replay of all that match takes. */
export const EVENT_LIST_FILTERS = ['status', 'eventType', 'orderNo', 'from', 'to'] as const;
/** Of which channel, and which event is open beside the list. */
export const EVENT_PLACE = ['appId', 'event'] as const;
export const EVENT_FILTERS = [...EVENT_PLACE, ...EVENT_LIST_FILTERS] as const;
