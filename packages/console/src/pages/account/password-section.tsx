import { Button } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { isNewPassword, NewPassword } from '../../parts/new-password.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Section } from '../../parts/page.tsx';
import { PasswordField } from '../../parts/password-field.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import styles from './account.module.css';
import { useTexts } from './texts.ts';

export function PasswordSection() {
  const t = useTexts();
  const { hasPassword, name } = useSession();
  const form = useForm({ initialValues: { current: '', password: '', again: '' } });
  const { current, password, again } = form.values;
  const change = useMutation({
    mutationFn: () => api.put('/account/password', { current, password }),
    onSuccess: () => {
      form.reset();
      notifyDone(t('passwordChanged'));
    },
  });
  if (!hasPassword)
    return (
      <Section title={t('password')} hint={t('noPassword')}>
        {null}
      </Section>
    );
  return (
    <Section title={t('password')} hint={t('passwordHint')}>
      <form className={styles.form} onSubmit={form.onSubmit(() => change.mutate())}>
        {/* So that a password manager knows whose it is. */}
        <input className="only-read" autoComplete="username" value={name} readOnly tabIndex={-1} aria-hidden="true" />
        <PasswordField label={t('current')} autoComplete="current-password" {...form.getInputProps('current')} />
        <NewPassword value={{ password, again }} onChange={(value) => form.setValues(value)} />
        <FormProblem error={change.error} />
        <div>
          <Button
            type="submit"
            variant="default"
            disabled={current === '' || !isNewPassword({ password, again })}
            loading={change.isPending}
          >
            {t('changePassword')}
          </Button>
        </div>
      </form>
    </Section>
  );
}
