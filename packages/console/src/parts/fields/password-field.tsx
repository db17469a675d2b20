import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { dictionary } from '../../i18n/dictionary.ts';

const useTexts = dictionary({
  show: ['Show or hide the password', '显示或隐藏密码'],
});

/** A password field that can show its text. */
export function PasswordField(props: PasswordInputProps) {
  const t = useTexts();
  return <PasswordInput visibilityToggleButtonProps={{ 'aria-label': t('show') }} {...props} />;
}
