import { useMutation, useQueryClient } from '@tanstack/react-query';
import { channelQuery, channelsQuery } from '../../api/catalog.ts';
import { api } from '../../api/client.ts';
import type { Channel, ChannelChange } from '../../api/types.ts';
import { notifySaved } from '../../parts/notify.ts';

/** Props of each tab of a channel. */
export interface ChannelTabProps {
  readonly channel: Channel;
}

/** Caches the answer of a change, so that all tabs show it. */
export function useTakeChannel() {
  const queries = useQueryClient();
  return (channel: Channel) => {
    queries.setQueryData(channelQuery(channel.appId).queryKey, channel);
    void queries.invalidateQueries({ queryKey: channelsQuery.queryKey, exact: true });
  };
}

/** Changes settings of a channel and notifies the operator whether anything changed. */
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
