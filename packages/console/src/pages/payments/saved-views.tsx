import { ActionIcon, Button, Group, Menu, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { ChevronDownIcon, CloseIcon } from '../../icons/icons.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { notifyDone, notifyProblem } from '../../parts/notify.ts';
import { placeAddress } from '../../parts/values/place-link.tsx';

const useTexts = dictionary({
  views: ['Views', '视图'],
  save: ['Save this view…', '保存当前视图…'],
  none: ['Save filters that you use often under a name.', '可将常用的筛选条件保存为视图。'],
  title: ['Save this view', '保存当前视图'],
  name: ['Name', '名称'],
  nameHint: [
    'The tab and its filters are saved for you. The same name replaces the former view.',
    '保存当前页签与筛选条件，仅您可见。同名视图将被覆盖。',
  ],
  verb: ['Save view', '保存视图'],
  saved: ['View saved', '视图已保存'],
  remove: ['Delete view {name}', '删除视图 {name}'],
});

const VIEWS = '/views';

/** The operator's own names for tabs with their filters. */
export function SavedViews() {
  const t = useTexts();
  const queries = useQueryClient();
  const [isSaving, setSaving] = useState(false);
  const { data } = useQuery({ queryKey: [VIEWS], queryFn: ({ signal }) => api.get('/views', {}, signal) });
  const changed = () => void queries.invalidateQueries({ queryKey: [VIEWS] });
  const remove = useMutation({
    mutationFn: (viewId: string) => api.delete('/views/{viewId}', { viewId }),
    onSuccess: changed,
    onError: notifyProblem,
  });
  const views = data?.views ?? [];
  return (
    <>
      <Menu position="bottom-end" closeOnItemClick={false}>
        <Menu.Target>
          <Button variant="default" rightSection={<ChevronDownIcon size={16} />}>
            {t('views')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown maw={340}>
          {views.length === 0 ? <Menu.Label>{t('none')}</Menu.Label> : null}
          {views.map(({ viewId, name, address }) => (
            <Group key={viewId} gap={2} wrap="nowrap">
              <Menu.Item
                closeMenuOnClick
                flex={1}
                miw={0}
                style={{ overflowWrap: 'anywhere' }}
                renderRoot={(props) => <Link {...props} {...placeAddress(address)} />}
              >
                {name}
              </Menu.Item>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={t('remove', { name })}
                onClick={() => remove.mutate(viewId)}
              >
                <CloseIcon size={14} />
              </ActionIcon>
            </Group>
          ))}
          <Menu.Divider />
          <Menu.Item closeMenuOnClick onClick={() => setSaving(true)}>
            {t('save')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isSaving ? <SaveDialog onSaved={changed} onClose={() => setSaving(false)} /> : null}
    </>
  );
}

function SaveDialog({ onSaved, onClose }: { onSaved(): void; onClose(): void }) {
  const t = useTexts();
  const [name, setName] = useState('');
  const { pathname, searchStr } = useLocation();
  return (
    <FormDialog
      title={t('title')}
      verb={t('verb')}
      isIncomplete={name.trim() === ''}
      onClose={onClose}
      onSubmit={async () => {
        await api.post('/views', { name: name.trim(), address: `${pathname}${searchStr}` });
        notifyDone(t('saved'));
        onSaved();
        onClose();
      }}
    >
      <TextInput
        label={t('name')}
        description={t('nameHint')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={60}
        autoComplete="off"
        data-autofocus
      />
    </FormDialog>
  );
}
