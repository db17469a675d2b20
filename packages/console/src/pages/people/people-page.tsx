import { ActionIcon, Button, Menu } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Person, PersonWithLink } from '../../api/types.ts';
import { useCommonTexts, useRoleTexts } from '../../i18n/common.ts';
import { KeyIcon, LockIcon, MoreIcon, PeopleIcon, PlusIcon } from '../../icons/icons.tsx';
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx';
import { type Column, DataTable } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { notifyDone, notifyProblem } from '../../parts/notify.ts';
import { Page } from '../../parts/page.tsx';
import { Status, Tag } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo, useSession } from '../../session/session.ts';
import { LinkDialog, NewPersonDialog, RoleDialog } from './people-dialogs.tsx';
import { useTexts } from './texts.ts';

/** Which dialog is open, and for which operator. */
type Task =
  | { readonly what: 'add' }
  | { readonly what: 'role' | 'reset' | 'unbind' | 'disable'; readonly person: Person }
  | { readonly what: 'link'; readonly made: PersonWithLink };

export default function PeoplePage() {
  const t = useTexts();
  const roleText = useRoleTexts();
  const common = useCommonTexts();
  const { name: ownName } = useSession();
  const isAdmin = useMayDo('admin');
  const queries = useQueryClient();
  const [task, setTask] = useState<Task>();
  const found = useQuery({ queryKey: ['/people'], queryFn: ({ signal }) => api.get('/people', {}, signal) });
  const reload = () => queries.invalidateQueries({ queryKey: ['/people'] });
  const close = () => setTask(undefined);
  const enable = useMutation({
    mutationFn: ({ name }: Person) => api.post('/people/{name}/enable', { name }),
    onSuccess: ({ person }) => {
      notifyDone(t('enabled', { name: person.name }));
      return reload();
    },
    onError: notifyProblem,
  });

  const columns: readonly Column<Person>[] = [
    {
      id: 'name',
      header: t('name'),
      cell: ({ name }) => (
        <strong>
          {name} {name === ownName ? <Tag tone="neutral">{t('you')}</Tag> : null}
        </strong>
      ),
    },
    { id: 'role', header: t('role'), cell: ({ role }) => roleText(role) },
    {
      id: 'status',
      header: t('status'),
      cell: (person) => <Status of="person" value={statusOf(person)} />,
      inCard: 'aside',
    },
    {
      id: 'proves',
      header: t('proves'),
      cell: (person) => <span className="quiet">{waysOf(person, t)}</span>,
      grows: true,
    },
    {
      id: 'lastSignIn',
      header: t('lastSignIn'),
      cell: ({ lastSignInAt }) => <Time value={lastSignInAt} absent={common('never')} />,
    },
    { id: 'created', header: t('created'), cell: ({ createdAt }) => <Time value={createdAt} />, inCard: 'none' },
    ...(isAdmin
      ? [
          {
            id: 'actions',
            header: t('actions'),
            hidesHeader: true,
            align: 'end' as const,
            inCard: 'aside' as const,
            cell: (person: Person) => (
              <PersonMenu
                person={person}
                onChoose={(what) => setTask({ what, person })}
                onEnable={() => enable.mutate(person)}
              />
            ),
          },
        ]
      : []),
  ];

  return (
    <Page
      title={t('title')}
      actions={
        isAdmin ? (
          <Button leftSection={<PlusIcon size={16} />} onClick={() => setTask({ what: 'add' })}>
            {t('add')}
          </Button>
        ) : null
      }
    >
      <Loaded query={found}>
        {({ people }) => (
          <DataTable caption={t('caption')} columns={columns} rows={people} rowKey={({ name }) => name} />
        )}
      </Loaded>
      {task?.what === 'add' ? (
        <NewPersonDialog
          onClose={close}
          onMade={(made) => {
            setTask({ what: 'link', made });
            void reload();
          }}
        />
      ) : null}
      <LinkDialog made={task?.what === 'link' ? task.made : undefined} onClose={close} />
      {task?.what === 'role' ? (
        <RoleDialog
          person={task.person}
          onClose={close}
          onChanged={(person) => {
            notifyDone(t('roleChanged', { name: person.name, role: roleText(person.role) }));
            close();
            void reload();
          }}
        />
      ) : null}
      {task?.what === 'reset' ? (
        <ConfirmDialog
          isOpen
          title={t('resetTitle', { name: task.person.name })}
          verb={t('reset')}
          isDangerous
          onConfirm={async () => {
            const made = await api.post('/people/{name}/reset', { name: task.person.name });
            // Opens the dialog with the link after this dialog has closed itself. Otherwise this dialog's onClose would
            // close both.
            setTimeout(() => setTask({ what: 'link', made }));
            void reload();
          }}
          onClose={close}
        >
          <p>{t('resetHint')}</p>
        </ConfirmDialog>
      ) : null}
      {task?.what === 'unbind' ? (
        <ConfirmDialog
          isOpen
          title={t('unbindTitle', { name: task.person.name })}
          verb={t('unbind')}
          isDangerous
          onConfirm={async () => {
            await api.post('/people/{name}/unbind', { name: task.person.name });
            notifyDone(t('unbound', { name: task.person.name }));
            void reload();
          }}
          onClose={close}
        >
          <p>{t('unbindHint')}</p>
        </ConfirmDialog>
      ) : null}
      {task?.what === 'disable' ? (
        <ConfirmDialog
          isOpen
          title={t('disableTitle', { name: task.person.name })}
          verb={t('disable')}
          isDangerous
          onConfirm={async () => {
            await api.post('/people/{name}/disable', { name: task.person.name });
            notifyDone(t('disabled', { name: task.person.name }));
            void reload();
          }}
          onClose={close}
        >
          <p>{t('disableHint')}</p>
        </ConfirmDialog>
      ) : null}
    </Page>
  );
}

interface PersonMenuProps {
  readonly person: Person;
  onChoose(what: 'role' | 'reset' | 'unbind' | 'disable'): void;
  onEnable(): void;
}

function PersonMenu({ person, onChoose, onEnable }: PersonMenuProps) {
  const t = useTexts();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('actionsFor', { name: person.name })}>
          <MoreIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<PeopleIcon size={16} />} onClick={() => onChoose('role')}>
          {t('changeRole')}
        </Menu.Item>
        <Menu.Item leftSection={<KeyIcon size={16} />} onClick={() => onChoose('reset')}>
          {t('reset')}
        </Menu.Item>
        {person.hasSingleSignOn ? (
          <Menu.Item leftSection={<KeyIcon size={16} />} onClick={() => onChoose('unbind')}>
            {t('unbind')}
          </Menu.Item>
        ) : null}
        <Menu.Divider />
        {person.status === 'ACTIVE' ? (
          <Menu.Item color="red" leftSection={<LockIcon size={16} />} onClick={() => onChoose('disable')}>
            {t('disable')}
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<LockIcon size={16} />} onClick={onEnable}>
            {t('enable')}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Returns the account's status: whether the operator can sign in now, or why not. */
function statusOf({ status, lockedUntil, hasPassword, hasSingleSignOn }: Person): string {
  if (status === 'DISABLED') return 'DISABLED';
  if (lockedUntil) return 'LOCKED';
  return hasPassword || hasSingleSignOn ? 'ACTIVE' : 'INVITED';
}

function waysOf(person: Person, t: ReturnType<typeof useTexts>): string {
  const ways = [
    person.hasPassword ? t('password') : '',
    person.hasTotp ? t('codes') : '',
    person.hasSingleSignOn ? t('singleSignOn') : '',
  ].filter((way) => way !== '');
  return ways.join(' + ') || t('nothingYet');
}
