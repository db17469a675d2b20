import { queryOptions, useQuery } from '@tanstack/react-query';
import { api } from './client.ts';

/** How long the configuration below counts as fresh. Many pages read it, and it rarely changes. */
const MINUTE = 60_000;

export const channelsQuery = queryOptions({
  queryKey: ['/channels'],
  queryFn: async ({ signal }) => (await api.get('/channels', {}, signal)).channels,
  staleTime: MINUTE,
});
export const channelQuery = (appId: string) =>
  queryOptions({
    queryKey: ['/channels', appId],
    queryFn: ({ signal }) => api.get('/channels/{appId}', { appId }, signal),
  });
export const setupQuery = (appId: string) =>
  queryOptions({
    queryKey: ['/channels', appId, 'setup'],
    queryFn: ({ signal }) => api.get('/channels/{appId}/setup', { appId }, signal),
    // Polled until the first order, because the channel's calls complete some of the steps.
    refetchInterval: ({ state }) => (state.data?.isLive ? false : 15_000),
  });
export const productsQuery = queryOptions({
  queryKey: ['/products'],
  queryFn: async ({ signal }) => (await api.get('/products', {}, signal)).products,
  staleTime: MINUTE,
});
export const productQuery = (code: string) =>
  queryOptions({
    queryKey: ['/products', code],
    queryFn: ({ signal }) => api.get('/products/{productCode}', { productCode: code }, signal),
  });
export const paymentChannelsQuery = queryOptions({
  queryKey: ['/payment-channels'],
  queryFn: async ({ signal }) => (await api.get('/payment-channels', {}, signal)).paymentChannels,
  staleTime: MINUTE,
});
export const benefitsQuery = queryOptions({
  queryKey: ['/benefits'],
  queryFn: async ({ signal }) => (await api.get('/benefits', {}, signal)).benefits,
});
export const orderQuery = (orderNo: string) =>
  queryOptions({
    queryKey: ['/orders', orderNo],
    queryFn: ({ signal }) => api.get('/orders/{orderNo}', { orderNo }, signal),
  });

/**
 * Loads a logo or an icon and returns a URL for an image element. Cached forever: a file's name changes with its
 * content.
 */
export const pictureQuery = (file: string) =>
  queryOptions({
    queryKey: ['/images', file],
    queryFn: async ({ signal }) => {
      const { mediaType, base64 } = await api.get('/images/{file}', { file }, signal);
      return `data:${mediaType};base64,${base64}`;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Returns a channel's name, or its app id if the name is not known. */
export function useChannelName(appId: string): string {
  const { data } = useQuery(channelsQuery);
  return data?.find((one) => one.appId === appId)?.name ?? appId;
}

/** Returns the channels with their names, for a filter. */
export function useChannelChoices(): { value: string; label: string }[] {
  const { data = [] } = useQuery(channelsQuery);
  return data.map(({ appId, name }) => ({ value: appId, label: name }));
}
