import { Avatar, Button, Group, Menu, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useRoleTexts } from '../i18n/common.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { ChevronDownIcon, KeyIcon, SignOutIcon } from '../icons/icons.tsx';
import { notifyProblem } from '../parts/notify.ts';
import { forgetSession, signOut, useSession } from '../session/session.ts';

const useTexts = dictionary({
  account: ['Your account', '账号设置'],
  signOut: ['Sign out', '退出登录'],
});

export function AccountMenu() {
  const t = useTexts();
  const roleText = useRoleTexts();
  const navigate = useNavigate();
  const { name, role } = useSession();
  const leave = async () => {
    try {
      await signOut();
      await navigate({ to: '/sign-in' });
      forgetSession();
    } catch (error) {
      notifyProblem(error);
    }
  };
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <Button variant="subtle" color="gray" size="xs" px={6} c="var(--text)">
          <span className="only-read">{t('account')}: </span>
          <Avatar size={24} color="iris" aria-hidden="true">
            {[...name][0]?.toUpperCase()}
          </Avatar>
          <Group visibleFrom="sm" gap={7} ms={7} wrap="nowrap">
            <Text span inherit truncate maw="16ch">
              {name}
            </Text>
            <ChevronDownIcon size={14} />
          </Group>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {name} · {roleText(role)}
        </Menu.Label>
        <Menu.Item component={Link} to="/account" leftSection={<KeyIcon size={16} />}>
          {t('account')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<SignOutIcon size={16} />} onClick={() => void leave()}>
          {t('signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
