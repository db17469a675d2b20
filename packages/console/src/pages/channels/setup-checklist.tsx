import { Box, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { places } from '../../address/places.ts';
import { setupQuery } from '../../api/catalog.ts';
import type { ChannelSetup } from '../../api/types.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { CheckIcon, ClockIcon } from '../../icons/icons.tsx';
import { Section } from '../../parts/page.tsx';
import { PlaceLink } from '../../parts/values/place-link.tsx';

const useTexts = dictionary({
  title: ['Until the first order', '上线准备'],
  count: ['{done} of {all} steps done', '已完成 {done}/{all} 步'],
  credentials: ['Use the credentials', '使用密钥调用接口'],
  credentialsHint: ['Done with the channel’s first signed request.', '渠道首次成功签名调用后完成。'],
  product: ['Authorize a product', '授权产品'],
  productHint: ['The channel can sell no product yet.', '渠道尚无可售产品。'],
  paymentChannel: ['Authorize a payment channel', '授权支付通道'],
  paymentChannelHint: ['Needed for products that Perennial debits.', '由平台扣款的产品需要支付通道。'],
  paymentChannelNotNeeded: ['Not needed: the channel collects the money itself.', '无需授权：由渠道自行收款。'],
  callback: ['Test the callback', '测试回调'],
  callbackHint: ['Set an address and send a test event that is accepted.', '设置回调地址，并成功推送一次测试事件。'],
  branding: ['Brand the redemption page', '设置兑换页品牌'],
  brandingHint: ['Set a display name or a logo.', '设置展示名称或徽标。'],
  limits: ['Set limits', '设置访问限制'],
  limitsHint: ['Set an IP allow-list or a rate limit.', '设置 IP 白名单或限流。'],
  order: ['First order', '首笔订单'],
  orderHint: ['This list disappears with the first order.', '产生首笔订单后，此清单不再显示。'],
});

type Step = ChannelSetup['steps'][number];

/** The tab of the channel's page, or the page, on which a step is done. */
const PLACES: Readonly<Record<Step['step'], (appId: string) => string>> = {
  credentials: (appId) => `${places.channel(appId)}?tab=secrets`,
  product: (appId) => `${places.channel(appId)}?tab=authorizations`,
  paymentChannel: (appId) => `${places.channel(appId)}?tab=authorizations`,
  callback: (appId) => `${places.channel(appId)}?tab=callbacks`,
  branding: (appId) => `${places.channel(appId)}?tab=branding`,
  limits: (appId) => `${places.channel(appId)}?tab=rate`,
  order: (appId) => places.requests({ appId }),
};

/** Shows the steps of a new channel until its first order. Every step is derived from data. */
export function SetupChecklist({ appId }: { readonly appId: string }) {
  const t = useTexts();
  const { data } = useQuery(setupQuery(appId));
  if (!data || data.isLive) return null;
  const done = data.steps.filter(({ state }) => state !== 'OPEN').length;
  return (
    <Section title={t('title')} hint={t('count', { done, all: data.steps.length })}>
      <Stack component="ol" gap={0} bd="1px solid var(--line)" bdrs={8}>
        {data.steps.map(({ step, state }) => (
          <Group
            key={step}
            component="li"
            gap={10}
            px={14}
            py={9}
            wrap="nowrap"
            align="flex-start"
            data-state={state}
            style={{ borderTop: step === 'credentials' ? undefined : '1px solid var(--line)' }}
          >
            <Box component="span" mt={2} c={state === 'OPEN' ? 'dimmed' : 'var(--positive)'}>
              {state === 'OPEN' ? <ClockIcon size={16} /> : <CheckIcon size={16} />}
            </Box>
            <div>
              {state === 'OPEN' ? <PlaceLink to={PLACES[step](appId)}>{t(step)}</PlaceLink> : t(step)}
              {state === 'OPEN' ? <div className="quiet small">{t(`${step}Hint`)}</div> : null}
              {state === 'NOT_NEEDED' ? <div className="quiet small">{t('paymentChannelNotNeeded')}</div> : null}
            </div>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
