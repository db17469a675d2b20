import { useMutation, useQueryClient } from '@tanstack/react-query';
import { channelQuery, channelsQuery, setupQuery } from '../../api/catalog.ts';
import { api } from '../../api/client.ts';
import type { Channel, ChannelChange } from '../../api/types.ts';
import { notifySaved } from '../../parts/notify.ts';

/** Props of each tab of a channel. */
export interface ChannelTabProps {
  readonly channel: Channel;
}

/** Returns a function that caches a changed channel, so that all tabs and the setup checklist show the change. */
export function useTakeChannel() {
  const queries = useQueryClient();
  return (channel: Channel) => {
    queries.setQueryData(channelQuery(channel.appId).queryKey, channel);
    void queries.invalidateQueries({ queryKey: channelsQuery.queryKey, exact: true });
    void queries.invalidateQueries({ queryKey: setupQuery(channel.appId).queryKey });
  };
}

/** Returns the mutation that changes a channel's settings. Afterwards it shows whether anything changed. */
export function useChannelChange(appId: string) {
  const take = useTakeChannel();
  return useMutation({
    mutationFn: (change: ChannelChange) => api.put('/channels/{appId}', { appId, ...change }),
    onSuccess: ({ channel, changed }) => {
      take(channel);
      notifySaved(changed);
    },
  });
}
