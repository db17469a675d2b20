import { Box, Group, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { useCommonTexts } from '../../i18n/common.ts';
import { agoText, BEIJING, isElsewhere, momentOf, offsetText, timeText, VIEWERS_ZONE } from './time-text.ts';

interface TimeProps {
  /** The time in the API's format. */
  readonly value: string | null | undefined;
  /**
   * seconds: with seconds. full: with seconds, and with the local time if it differs from Beijing time. ago: relative
   * to now.
   */
  readonly as?: 'short' | 'seconds' | 'full' | 'ago';
  /** Shown if there is no time. */
  readonly absent?: string;
}

const ONE_LINE = { whiteSpace: 'nowrap' } as const;

/** A time in Beijing time. A tooltip shows the local time. */
export function Time({ value, as = 'short', absent = '–' }: TimeProps) {
  // The tooltip is created on hover, because a table has hundreds of times.
  const [isPointedAt, setPointedAt] = useState(false);
  if (!value) return <span className="quiet">{absent}</span>;
  const moment = momentOf(value);
  const text = as === 'ago' ? agoText(moment) : timeText(moment, BEIJING, as !== 'short');
  const shown = (
    <time
      className="figures"
      dateTime={moment.toISOString()}
      onPointerEnter={() => setPointedAt(true)}
      onPointerLeave={() => setPointedAt(false)}
    >
      <span style={ONE_LINE}>{text}</span>
      {as === 'full' && isElsewhere(moment) ? (
        <Box component="span" className="quiet" display="block" style={ONE_LINE}>
          {timeText(moment, VIEWERS_ZONE)} {offsetText(moment, VIEWERS_ZONE)}
        </Box>
      ) : null}
    </time>
  );
  if (!isPointedAt) return shown;
  return (
    <Tooltip opened label={<BothZones moment={moment} />} color="dark.5" withArrow>
      {shown}
    </Tooltip>
  );
}

function BothZones({ moment }: { readonly moment: Date }) {
  const t = useCommonTexts();
  const line = (name: string, zone: string) => (
    <Group justify="space-between" gap={10}>
      <span>{name}</span>
      <span>{timeText(moment, zone, true)}</span>
      <span>{offsetText(moment, zone)}</span>
    </Group>
  );
  return (
    <Box className="figures tiny">
      {line(t('beijing'), BEIJING)}
      {isElsewhere(moment) ? line(t('here'), VIEWERS_ZONE) : null}
      {agoText(moment)}
    </Box>
  );
}
