import { Box, ColorSwatch, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ChartSeries } from './chart.tsx';

interface ChartPartProps {
  readonly name: string;
  readonly value: string;
  readonly color?: ChartSeries['color'];
  readonly more?: ReactNode;
  /** Set if the entry is shown in one line, below a chart. */
  readonly isSmall?: boolean;
}

/** A legend entry: a chart's colour, its name and its total. */
export function ChartPart({ name, value, color, more, isSmall = false }: ChartPartProps) {
  return (
    <Box className={isSmall ? 'tiny' : 'small'} display={isSmall ? 'flex' : 'block'} style={{ gap: 6 }}>
      <Group component="dt" className="quiet" gap={6}>
        {color ? <ColorSwatch component="span" size={8} radius={2} withShadow={false} color={`var(${color})`} /> : null}
        {name}
      </Group>
      <Box component="dd" className="figures" fw={500}>
        {value} {more}
      </Box>
    </Box>
  );
}
