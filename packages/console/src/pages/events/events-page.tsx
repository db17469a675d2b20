import { useFilters } from '../../address/filters.ts';
import { ChannelEvents } from './channel-events.tsx';
import { ChannelsOverview } from './channels-overview.tsx';
import { EVENT_PLACE } from './filters.ts';

/** Shows all channels, or the events of the channel in the URL. */
export default function EventsPage() {
  const { appId } = useFilters(EVENT_PLACE).values;
  return appId === undefined ? <ChannelsOverview /> : <ChannelEvents key={appId} appId={appId} />;
}
