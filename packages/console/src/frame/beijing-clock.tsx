import { Text, Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { now } from '../clock.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { hourText } from '../parts/values/time-text.ts';

const useTexts = dictionary({
  clock: ['{time} in Beijing', '北京时间 {time}'],
  hint: [
    'Times on every page are of Beijing, UTC+8. Point at one to see yours.',
    '所有页面均为北京时间（UTC+8），指向某个时间可查看本地时间。',
  ],
});

/** What time it is where the times of all pages are of. */
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
