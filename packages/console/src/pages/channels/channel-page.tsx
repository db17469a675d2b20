import { Button, Stack, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ComponentType, useEffect, useRef } from 'react';
import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { channelQuery } from '../../api/catalog.ts';
import { EventIcon, RequestIcon } from '../../icons/icons.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { PlaceLink, placeAddress } from '../../parts/values/place-link.tsx';
import { Status } from '../../parts/values/status.tsx';
import { AllowListTab, RateTab } from './access-tabs.tsx';
import { AuthorizationsTab } from './authorizations-tab.tsx';
import { BrandingTab } from './branding-tab.tsx';
import { CallbacksTab } from './callbacks-tab.tsx';
import styles from './channel-page.module.css';
import { FeesTab } from './fees-tab.tsx';
import { GeneralTab } from './general-tab.tsx';
import { SecretsTab } from './secrets-tab.tsx';
import { SetupChecklist } from './setup-checklist.tsx';
import { useTexts } from './texts.ts';
import type { ChannelTabProps } from './use-change.ts';

const TABS = {
  general: GeneralTab,
  branding: BrandingTab,
  secrets: SecretsTab,
  callbacks: CallbacksTab,
  allowList: AllowListTab,
  rate: RateTab,
  authorizations: AuthorizationsTab,
  fees: FeesTab,
} as const satisfies Readonly<Record<string, ComponentType<ChannelTabProps>>>;
type Tab = keyof typeof TABS;
const NAMES = Object.keys(TABS) as Tab[];

export default function ChannelPage() {
  const t = useTexts();
  const { appId = '' } = useParams({ strict: false });
  const place = useFilters(['tab']);
  const found = useQuery(channelQuery(appId));
  const tab = NAMES.find((name) => name === place.values.tab) ?? 'general';
  const Panel = TABS[tab];
  const list = useRef<HTMLDivElement>(null);
  const isLoaded = found.data !== undefined;
  // Scrolls the open tab into view, because the tabs do not fit on a phone.
  useEffect(() => {
    const element = isLoaded ? list.current?.querySelector(`[data-tab="${tab}"]`) : null;
    element?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab, isLoaded]);
  return (
    <Page
      title={found.data?.name ?? appId}
      above={<PlaceLink to="/channels">{t('title')}</PlaceLink>}
      aside={found.data ? <Status of="channel" value={found.data.status} /> : null}
      actions={
        found.data ? (
          <>
            <Button
              variant="default"
              leftSection={<EventIcon size={16} />}
              renderRoot={(props) => <Link {...props} {...placeAddress(places.events({ appId }))} />}
            >
              {t('goEvents')}
            </Button>
            <Button
              variant="default"
              leftSection={<RequestIcon size={16} />}
              renderRoot={(props) => <Link {...props} {...placeAddress(places.requests({ appId }))} />}
            >
              {t('goRequests')}
            </Button>
          </>
        ) : null
      }
    >
      <Loaded query={found}>
        {(channel) => (
          <>
            <SetupChecklist appId={appId} />
            <Tabs
              value={tab}
              onChange={(chosen) => place.set({ tab: chosen === 'general' ? undefined : chosen })}
              keepMounted={false}
            >
              <Tabs.List ref={list} aria-label={t('tabs')} mb="md" className={`strip ${styles.tabs}`}>
                {NAMES.map((name) => (
                  <Tabs.Tab key={name} value={name} data-tab={name}>
                    {t(name)}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
              <Tabs.Panel value={tab}>
                <Stack gap={20}>
                  <Panel key={tab} channel={channel} />
                </Stack>
              </Tabs.Panel>
            </Tabs>
          </>
        )}
      </Loaded>
    </Page>
  );
}
