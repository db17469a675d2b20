import { Text, Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { now } from '../clock.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { hourText } from '../parts/values/time-text.ts';

const useTexts = dictionary({
  clock: ['{time} Beijing time', '北京时间 {time}'],
  hint: [
    'Times on all pages are in Beijing time, UTC+8. Point at a time to see your local time.',
    '所有时间均为北京时间（UTC+8），鼠标悬停可查看本地时间。',
  ],
});

/** Shows the current time in Beijing, because all pages show Beijing time. */
export function BeijingClock() {
  const t = useTexts();
  const [at, setAt] = useState(now);
  useEffect(() => {
    const ticking = setInterval(() => setAt(now()), 10_000);
    return () => clearInterval(ticking);
  }, []);
  return (
    <Tooltip label={t('hint')} multiline w={240} withArrow>
      <Text span className="figures" visibleFrom="md" pe={10} fz="xs" c="dimmed">
        {t('clock', { time: hourText(new Date(at)) })}
      </Text>
    </Tooltip>
  );
}
