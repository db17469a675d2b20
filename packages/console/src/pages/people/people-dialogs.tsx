import { Button, Radio, TextInput } from '@mantine/core';
import { ROLES } from '@perennial/service/roles';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Person, PersonWithLink, Role } from '../../api/types.ts';
import { useCommonTexts, useRoleTexts } from '../../i18n/common.ts';
import { Copyable } from '../../parts/copyable.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormProblem, Problem } from '../../parts/states.tsx';
import { useStay } from '../../parts/use-stay.ts';
import styles from './people.module.css';
import { useTexts } from './texts.ts';

function RoleChoice({ value, onChange }: { readonly value: Role; onChange(role: Role): void }) {
  const t = useTexts();
  const roleText = useRoleTexts();
  return (
    <Radio.Group label={t('role')} value={value} onChange={(role) => onChange(role as Role)}>
      <div className={styles.roles}>
        {ROLES.map((role) => (
          <Radio key={role} value={role} label={roleText(role)} description={t(`${role}Does`)} />
        ))}
      </div>
    </Radio.Group>
  );
}

interface NewPersonDialogProps {
  readonly isOpen: boolean;
  onClose(): void;
  onMade(made: PersonWithLink): void;
}

export function NewPersonDialog({ isOpen, onClose, onMade }: NewPersonDialogProps) {
  const t = useTexts();
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t('addTitle')}>
      <NewPersonForm onClose={onClose} onMade={onMade} />
    </Dialog>
  );
}

function NewPersonForm({ onClose, onMade }: Omit<NewPersonDialogProps, 'isOpen'>) {
  const t = useTexts();
  const common = useCommonTexts();
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const make = useMutation({
    mutationFn: () => api.post('/people', { name: name.trim(), role }),
    onSuccess: onMade,
  });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        make.mutate();
      }}
    >
      <TextInput
        label={t('name')}
        description={t('nameHint')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={64}
        data-autofocus
      />
      <RoleChoice value={role} onChange={setRole} />
      <FormProblem error={make.error} />
      <div className={styles.buttons}>
        <Button variant="default" onClick={onClose}>
          {common('cancel')}
        </Button>
        <Button type="submit" disabled={name.trim() === ''} loading={make.isPending}>
          {t('addVerb')}
        </Button>
      </div>
    </form>
  );
}

/** The link is in the answer and nowhere else: the dialog is the only place that ever shows it. */
export function LinkDialog({ made, onClose }: { readonly made: PersonWithLink | undefined; onClose(): void }) {
  const t = useTexts();
  return (
    <Dialog
      isOpen={made !== undefined}
      onClose={onClose}
      isKept
      title={t('linkTitle', { name: made?.person.name ?? '' })}
    >
      {made ? <SetupLink made={made} onClose={onClose} /> : null}
    </Dialog>
  );
}

function SetupLink({ made, onClose }: { readonly made: PersonWithLink; onClose(): void }) {
  const t = useTexts();
  const common = useCommonTexts();
  const stay = useStay();
  return (
    <div className={styles.form}>
      <p className={styles.hint}>{t('linkHint', { name: made.person.name })}</p>
      <div className={styles.link}>
        <Copyable value={made.setupLink} />
      </div>
      {stay.isHeld ? <Problem>{t('linkHeld')}</Problem> : null}
      <div className={styles.buttons}>
        <Button onClick={onClose}>{common('done')}</Button>
      </div>
    </div>
  );
}

interface RoleDialogProps {
  readonly person: Person | undefined;
  onClose(): void;
  onChanged(person: Person): void;
}

export function RoleDialog({ person, onClose, onChanged }: RoleDialogProps) {
  const t = useTexts();
  return (
    <Dialog isOpen={person !== undefined} onClose={onClose} title={t('changeRoleTitle', { name: person?.name ?? '' })}>
      {person ? <RoleForm person={person} onClose={onClose} onChanged={onChanged} /> : null}
    </Dialog>
  );
}

function RoleForm({ person, onClose, onChanged }: RoleDialogProps & { readonly person: Person }) {
  const t = useTexts();
  const common = useCommonTexts();
  const [role, setRole] = useState(person.role);
  const change = useMutation({
    mutationFn: () => api.put('/people/{name}/role', { name: person.name, role }),
    onSuccess: (answer) => onChanged(answer.person),
  });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <RoleChoice value={role} onChange={setRole} />
      <p className={styles.hint}>{t('changeRoleHint')}</p>
      <FormProblem error={change.error} />
      <div className={styles.buttons}>
        <Button variant="default" onClick={onClose}>
          {common('cancel')}
        </Button>
        <Button type="submit" disabled={role === person.role} loading={change.isPending}>
          {t('changeRole')}
        </Button>
      </div>
    </form>
  );
}
