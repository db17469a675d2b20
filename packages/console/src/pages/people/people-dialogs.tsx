import { Button, Group, Radio, Stack, TextInput } from '@mantine/core';
import { ROLES } from '@perennial/service/roles';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Person, PersonWithLink, Role } from '../../api/types.ts';
import { useCommonTexts, useRoleTexts } from '../../i18n/common.ts';
import { Dialog } from '../../parts/dialogs/dialog.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { useLeaveGuard } from '../../parts/dialogs/use-leave-guard.ts';
import { Problem } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { useTexts } from './texts.ts';

function RoleChoice({ value, onChange }: { readonly value: Role; onChange(role: Role): void }) {
  const t = useTexts();
  const roleText = useRoleTexts();
  return (
    <Radio.Group label={t('role')} value={value} onChange={(role) => onChange(role as Role)}>
      <Stack gap={10} mt={8}>
        {ROLES.map((role) => (
          <Radio key={role} value={role} label={roleText(role)} description={t(`${role}Does`)} />
        ))}
      </Stack>
    </Radio.Group>
  );
}

interface NewPersonDialogProps {
  onClose(): void;
  onMade(made: PersonWithLink): void;
}

export function NewPersonDialog({ onClose, onMade }: NewPersonDialogProps) {
  const t = useTexts();
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  return (
    <FormDialog
      title={t('add')}
      verb={t('addVerb')}
      isIncomplete={name.trim() === ''}
      onClose={onClose}
      onSubmit={async () => onMade(await api.post('/people', { name: name.trim(), role }))}
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
    </FormDialog>
  );
}

/** Shows the one-time link. Only the answer to the request contains it, so it cannot be shown again. */
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
  const guard = useLeaveGuard();
  return (
    <Stack gap={16}>
      <p className="quiet small">{t('linkHint', { name: made.person.name })}</p>
      <Copyable isWhole value={made.setupLink} />
      {guard.isHeld ? <Problem>{t('linkHeld')}</Problem> : null}
      <Group gap={8} justify="flex-end">
        <Button onClick={onClose}>{common('done')}</Button>
      </Group>
    </Stack>
  );
}

interface RoleDialogProps {
  readonly person: Person;
  onClose(): void;
  onChanged(person: Person): void;
}

export function RoleDialog({ person, onClose, onChanged }: RoleDialogProps) {
  const t = useTexts();
  const [role, setRole] = useState(person.role);
  return (
    <FormDialog
      title={t('changeRoleTitle', { name: person.name })}
      verb={t('changeRole')}
      isIncomplete={role === person.role}
      onClose={onClose}
      onSubmit={async () => onChanged((await api.put('/people/{name}/role', { name: person.name, role })).person)}
    >
      <RoleChoice value={role} onChange={setRole} />
      <p className="quiet small">{t('changeRoleHint')}</p>
    </FormDialog>
  );
}
