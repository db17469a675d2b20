import { Box, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { dictionary } from '../../i18n/dictionary.ts';
import { Tag } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';

const useOutcomeTexts = dictionary({
  ACCEPTED: ['Accepted', '已接收'],
  REFUSED: ['Refused', '被拒绝'],
  TIMEOUT: ['Timed out', '超时'],
  UNREACHABLE: ['Unreachable', '无法连接'],
  FORBIDDEN: ['Forbidden address', '地址不允许'],
});

/** Shows the outcome of a push. An unknown outcome is shown by its code. */
export function Outcome({ value }: { readonly value: string }) {
  const t = useOutcomeTexts() as (outcome: string) => string;
  return <Tag tone={value === 'ACCEPTED' ? 'positive' : 'negative'}>{t(value)}</Tag>;
}

interface PushLineProps {
  readonly outcome: string;
  /** The outcome in words. */
  readonly children: ReactNode;
  readonly about: string;
  readonly at: string;
  readonly answer: string | null;
}

/** One push with the channel's answer. */
export function PushLine({ outcome, children, about, at, answer }: PushLineProps) {
  const color = outcome === 'ACCEPTED' ? 'var(--mantine-color-green-5)' : 'var(--chart-2)';
  return (
    <Box component="li" className="tiny" p="4px 0 4px 10px" style={{ borderInlineStart: `2px solid ${color}` }}>
      <Group gap="0 12px">
        {children}
        <span className="quiet figures">{about}</span>
        <Box component="span" ml="auto">
          <Time value={at} as="seconds" />
        </Box>
      </Group>
      {answer ? (
        <Box
          component="code"
          className="quiet"
          display="block"
          mah={84}
          style={{ overflow: 'auto', whiteSpace: 'pre-wrap' }}
        >
          {answer}
        </Box>
      ) : null}
    </Box>
  );
}
