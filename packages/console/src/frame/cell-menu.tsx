import { Button, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { dictionary } from '../i18n/dictionary.ts';
import { ChevronDownIcon, OverviewIcon } from '../icons/icons.tsx';
import { useSession } from '../session/session.ts';

const useTexts = dictionary({
  cell: ['Cell {cell}', '单元 {cell}'],
  all: ['All cells', '全部单元'],
});

/** Shows the cell, and links to the consoles of the others. Renders nothing if there is only one. */
export function CellMenu() {
  const t = useTexts();
  const { cell, cells } = useSession();
  if (cells.length === 0) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="subtle" color="gray" size="xs" px={6} rightSection={<ChevronDownIcon size={14} />}>
          {t('cell', { cell })}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to="/cells" leftSection={<OverviewIcon size={16} />}>
          {t('all')}
        </Menu.Item>
        <Menu.Divider />
        {cells.map(({ cell: one, consoleUrl }) => (
          <Menu.Item
            key={one}
            {...(consoleUrl && one !== cell ? { component: 'a' as const, href: consoleUrl } : { disabled: true })}
            aria-current={one === cell}
          >
            {t('cell', { cell: one })}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
