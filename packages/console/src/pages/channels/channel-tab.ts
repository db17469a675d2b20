import type { Channel } from '../../api/types.ts';

/** What each tab of a channel gets. */
export interface ChannelTabProps {
  readonly channel: Channel;
}
