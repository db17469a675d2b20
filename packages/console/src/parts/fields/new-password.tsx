import { dictionary } from '../../i18n/dictionary.ts';
import { PasswordField } from './password-field.tsx';

const useTexts = dictionary({
  password: ['New password', '新密码'],
  passwordHint: [
    'At least 12 characters. Several words are easier to remember than symbols.',
    '至少 12 个字符，用几个词语组合更容易记住。',
  ],
  again: ['Repeat password', '确认密码'],
  tooShort: ['{count} more character needed|{count} more characters needed', '还差 {count} 个字符'],
  notSame: ['The passwords differ', '两次输入的密码不一致'],
});

const MIN_PASSWORD = 12;

interface NewPasswordValue {
  readonly password: string;
  readonly again: string;
}

export const isNewPassword = ({ password, again }: NewPasswordValue): boolean =>
  [...password].length >= MIN_PASSWORD && password === again;

interface NewPasswordProps {
  readonly value: NewPasswordValue;
  onChange(value: NewPasswordValue): void;
  readonly size?: 'sm' | 'md';
}

/** Fields for a new password, typed twice. */
export function NewPassword({ value, onChange, size = 'sm' }: NewPasswordProps) {
  const t = useTexts();
  const missing = MIN_PASSWORD - [...value.password].length;
  return (
    <>
      <PasswordField
        label={t('password')}
        description={value.password !== '' && missing > 0 ? t('tooShort', { count: missing }) : t('passwordHint')}
        size={size}
        autoComplete="new-password"
        value={value.password}
        onChange={(event) => onChange({ ...value, password: event.currentTarget.value })}
      />
      <PasswordField
        label={t('again')}
        size={size}
        autoComplete="new-password"
        value={value.again}
        error={value.again !== '' && !value.password.startsWith(value.again) ? t('notSame') : undefined}
        onChange={(event) => onChange({ ...value, again: event.currentTarget.value })}
      />
    </>
  );
}
