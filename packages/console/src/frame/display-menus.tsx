import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core';
import { dictionary } from '../i18n/dictionary.ts';
import { setLanguage, useLanguage } from '../i18n/language.ts';
import { AutoSchemeIcon, LanguageIcon, MoonIcon, SunIcon } from '../icons/icons.tsx';

const useTexts = dictionary({
  scheme: ['Colour scheme', '外观'],
  light: ['Light', '浅色'],
  dark: ['Dark', '深色'],
  auto: ['Follow the system', '跟随系统'],
  language: ['Language', '语言'],
});

const SCHEMES = [
  ['light', SunIcon],
  ['dark', MoonIcon],
  ['auto', AutoSchemeIcon],
] as const;

export function SchemeMenu() {
  const t = useTexts();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const Current = SCHEMES.find(([scheme]) => scheme === colorScheme)?.[1] ?? AutoSchemeIcon;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('scheme')} title={t('scheme')}>
          <Current />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {SCHEMES.map(([scheme, Icon]) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon size={16} />}
            aria-current={scheme === colorScheme}
            onClick={() => setColorScheme(scheme)}
          >
            {t(scheme)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Toggles between the two languages. The button shows the other language's own name. */
export function LanguageButton() {
  const t = useTexts();
  const language = useLanguage();
  const other = language === 'en' ? 'zh' : 'en';
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={`${t('language')}: ${other === 'zh' ? '中文' : 'English'}`}
      title={other === 'zh' ? '中文' : 'English'}
      onClick={() => setLanguage(other)}
    >
      <LanguageIcon />
    </ActionIcon>
  );
}
