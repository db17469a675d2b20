import { Button, Menu } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { CheckIcon, ChevronDownIcon, UserIcon } from '../../icons/icons.tsx';
import { useSession } from '../../session/session.ts';
import { notifyProblem } from '../notify.ts';

const useTexts = dictionary({
  nobody: ['Unassigned', '未分配'],
  take: ['Assign to me', '分配给我'],
  me: ['{name} (you)', '{name}（您）'],
  label: ['Owner: {name}', '负责人：{name}'],
});

interface OwnerPickerProps {
  readonly owner: string | null;
  readonly mayChange: boolean;
  onChange(owner: string | null): Promise<unknown>;
}

/** Chooses the owner of an alert or a difference. The operator's own name is first, because it is chosen most. */
export function OwnerPicker({ owner, mayChange, onChange }: OwnerPickerProps) {
  const t = useTexts();
  const { name: ownName } = useSession();
  const change = useMutation({ mutationFn: onChange, onError: notifyProblem });
  const people = useQuery({
    queryKey: ['/people'],
    queryFn: ({ signal }) => api.get('/people', {}, signal),
    enabled: mayChange,
    staleTime: 60_000,
  });
  const nameOf = (name: string | null) => (name === null ? t('nobody') : name === ownName ? t('me', { name }) : name);
  if (!mayChange) return owner === null ? <span className="quiet">{t('nobody')}</span> : nameOf(owner);
  const others = (people.data?.people ?? []).filter(({ name, status }) => name !== ownName && status === 'ACTIVE');
  const item = (name: string | null, text = nameOf(name)) => (
    <Menu.Item
      key={name ?? ''}
      disabled={name === owner}
      rightSection={name === owner ? <CheckIcon size={14} /> : null}
      onClick={() => change.mutate(name)}
    >
      {text}
    </Menu.Item>
  );
  return (
    <Menu position="bottom-start" width={220}>
      <Menu.Target>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<UserIcon size={14} />}
          rightSection={<ChevronDownIcon size={14} />}
          loading={change.isPending}
          aria-label={t('label', { name: nameOf(owner) })}
        >
          {nameOf(owner)}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {item(ownName, owner === ownName ? undefined : t('take'))}
        {item(null)}
        {others.length > 0 ? <Menu.Divider /> : null}
        {others.map(({ name }) => item(name))}
      </Menu.Dropdown>
    </Menu>
  );
}
