import type { BrandingView, ChannelView } from '../../catalog/channels/channel-provisioning-sql.js';
import type { Changed } from '../../operator/operator.js';
import { importCodes, listBenefits, setFulfilment, setLowStock } from '../../operator/provisioning/benefits.js';
import type { BenefitFulfilmentView } from '../../operator/provisioning/benefits-sql.js';
import { setBranding } from '../../operator/provisioning/branding.js';
import { changeSettings } from '../../operator/provisioning/change-settings.js';
import { createChannel, listChannels, resetCredentials, showChannel } from '../../operator/provisioning/channels.js';
import {
  authorizePaymentChannel,
  withdrawPaymentChannel,
} from '../../operator/provisioning/payment-channel-authorizations.js';
import {
  createPaymentChannel,
  listPaymentChannels,
  resetGatewayKey,
  showPaymentChannel,
  updatePaymentChannel,
} from '../../operator/provisioning/payment-channels.js';
import type { Authorized } from '../../operator/provisioning/period-rules.js';
import { requirePicture } from '../../operator/provisioning/pictures.js';
import { setPresentation } from '../../operator/provisioning/presentations.js';
import {
  authorizeProduct,
  createProduct,
  createProductVersion,
  listProducts,
  showProduct,
  withdrawProduct,
} from '../../operator/provisioning/products.js';
import { measureTones } from '../../redeem/brand/tones.js';
import { type Operation, operation } from '../operation.js';
import { readPicture } from '../picture-field.js';
import * as schemas from '../schemas/setup.js';

/** A file of 20 MB as JSON. */
const MAX_CODES_BYTES = 25_000_000;

/** Runs out of codes at night too: support refills a pool. */
const WHO_REFILLS = ['support', 'admin'] as const;

const channelsOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/channels',
    role: 'viewer',
    summary: 'All channels',
    answer: schemas.channels,
    run: async ({ operator }) => ({ channels: await listChannels(operator) }),
  }),
  operation({
    method: 'POST',
    path: '/channels',
    role: 'admin',
    needsProof: true,
    summary: 'Make a channel and show its credentials, this one time',
    body: schemas.channelRequest,
    answer: schemas.channelCreated,
    async run({ operator, publicUrl }, { body }) {
      const { appSecret, aesKey, callbackSecret, ...channel } = await createChannel(operator, body);
      return { channel, credentials: { appSecret, aesKey, callbackSecret }, baseUrl: publicUrl() };
    },
  }),
  operation({
    method: 'GET',
    path: '/channels/{appId}',
    role: 'viewer',
    summary: 'One channel with its settings and authorizations',
    answer: schemas.channel,
    run: ({ operator }, { path: { appId = '' } }) => showChannel(operator, { appId }),
  }),
  operation({
    method: 'PUT',
    path: '/channels/{appId}',
    role: 'admin',
    // Where events go, and from where calls are taken.
    needsProof: true,
    summary: 'Change the settings of a channel that are given, all of them or none',
    body: schemas.channelChange,
    answer: schemas.channelChanged,
    async run({ operator }, { path: { appId = '' }, body }) {
      return toChannelChanged(await changeSettings(operator, { appId, ...body }));
    },
  }),
  operation({
    method: 'GET',
    path: '/channels/{appId}/branding',
    role: 'viewer',
    summary: 'What users see of a channel, with the tones that are made of its accent',
    answer: schemas.branding,
    run: async ({ operator }, { path: { appId = '' } }) => withTones((await showChannel(operator, { appId })).branding),
  }),
  operation({
    method: 'PUT',
    path: '/channels/{appId}/branding',
    role: 'admin',
    // Whose page users believe it to be, and where it leads them.
    needsProof: true,
    summary: 'Change what users see of a channel: what is given, all of it or nothing; null removes a part',
    body: schemas.brandingChange,
    answer: schemas.brandingChanged,
    async run({ operator }, { path: { appId = '' }, body: { logo, ...texts } }) {
      const { branding, changed, leftOut } = await setBranding(operator, {
        appId,
        ...texts,
        ...readPicture('logo', logo),
      });
      return { branding: withTones(branding), leftOut, changed };
    },
  }),
  operation({
    method: 'GET',
    path: '/images/{file}',
    role: 'viewer',
    summary: 'A logo or an icon in base64, by the name of its file',
    answer: schemas.imageAnswer,
    async run({ operator }, { path: { file = '' } }) {
      const { mediaType, bytes } = await requirePicture(operator, { file });
      return { mediaType, base64: bytes.toString('base64') };
    },
  }),
  operation({
    method: 'POST',
    path: '/channels/{appId}/credentials',
    role: 'admin',
    needsProof: true,
    summary: 'New secrets, shown this one time; with an overlap the former app secret is taken for a while',
    body: schemas.credentialsRequest,
    answer: schemas.credentialsAnswer,
    async run({ operator }, { path: { appId = '' }, body }) {
      const {
        appSecret,
        aesKey,
        callbackSecret,
        changed: _,
        ...channel
      } = await resetCredentials(operator, { appId, ...body });
      return {
        channel,
        credentials: {
          ...(appSecret === undefined ? {} : { appSecret }),
          ...(aesKey === undefined ? {} : { aesKey }),
          ...(callbackSecret === undefined ? {} : { callbackSecret }),
        },
      };
    },
  }),
  operation({
    method: 'PUT',
    path: '/channels/{appId}/products/{code}',
    role: 'admin',
    summary: 'Let a channel sell a product',
    answer: schemas.channelAuthorized,
    run: async ({ operator }, { path: { appId = '', code: productCode = '' } }) =>
      toChannelAuthorized(await authorizeProduct(operator, { appId, productCode })),
  }),
  operation({
    method: 'DELETE',
    path: '/channels/{appId}/products/{code}',
    role: 'admin',
    summary: 'Let a channel sell a product no longer; running orders go on',
    answer: schemas.channelChanged,
    run: async ({ operator }, { path: { appId = '', code: productCode = '' } }) =>
      toChannelChanged(await withdrawProduct(operator, { appId, productCode })),
  }),
  operation({
    method: 'PUT',
    path: '/channels/{appId}/payment-channels/{code}',
    role: 'admin',
    summary: 'Let a channel use a payment channel, or change how',
    body: schemas.authorizationRequest,
    answer: schemas.channelAuthorized,
    run: async ({ operator }, { path: { appId = '', code = '' }, body }) =>
      toChannelAuthorized(await authorizePaymentChannel(operator, { appId, code, ...body })),
  }),
  operation({
    method: 'DELETE',
    path: '/channels/{appId}/payment-channels/{code}',
    role: 'admin',
    summary: 'Let a channel use a payment channel no longer',
    answer: schemas.channelChanged,
    run: async ({ operator }, { path: { appId = '', code = '' } }) =>
      toChannelChanged(await withdrawPaymentChannel(operator, { appId, code })),
  }),
];

function toChannelChanged({ changed, ...channel }: Changed<ChannelView>) {
  return { channel, changed };
}

function toChannelAuthorized({ warnings, ...changed }: Authorized) {
  return { ...toChannelChanged(changed), warnings };
}

const withTones = (branding: BrandingView) => ({
  ...branding,
  tones: branding.accent === null ? [] : measureTones(branding.accent),
});

const productsOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/products',
    role: 'viewer',
    summary: 'All products',
    answer: schemas.products,
    run: async ({ operator }) => ({ products: await listProducts(operator) }),
  }),
  operation({
    method: 'POST',
    path: '/products',
    role: 'admin',
    summary: 'Make a product, which never changes',
    body: schemas.productRequest,
    answer: schemas.product,
    run: ({ operator }, { body }) => createProduct(operator, body),
  }),
  operation({
    method: 'GET',
    path: '/products/{code}',
    role: 'viewer',
    summary: 'One product',
    answer: schemas.product,
    run: ({ operator }, { path: { code: productCode = '' } }) => showProduct(operator, { productCode }),
  }),
  operation({
    method: 'POST',
    path: '/products/{code}/versions',
    role: 'admin',
    summary: 'Make a later version of a product; running orders stay with theirs',
    body: schemas.versionRequest,
    answer: schemas.product,
    run: ({ operator }, { path: { code: formerCode = '' }, body }) =>
      createProductVersion(operator, { formerCode, ...body }),
  }),
];

const paymentChannelsOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/payment-channels',
    role: 'viewer',
    summary: 'All payment channels',
    answer: schemas.paymentChannels,
    run: async ({ operator }) => ({ paymentChannels: await listPaymentChannels(operator) }),
  }),
  operation({
    method: 'POST',
    path: '/payment-channels',
    role: 'admin',
    needsProof: true,
    summary: 'Make a payment channel and show the key of its bridge, this one time',
    body: schemas.paymentChannelRequest,
    answer: schemas.paymentChannelAnswer,
    async run({ operator }, { body }) {
      const { gatewayKey = null, ...paymentChannel } = await createPaymentChannel(operator, body);
      return { paymentChannel, gatewayKey };
    },
  }),
  operation({
    method: 'GET',
    path: '/payment-channels/{code}',
    role: 'viewer',
    summary: 'One payment channel',
    answer: schemas.paymentChannel,
    run: ({ operator }, { path: { code = '' } }) => showPaymentChannel(operator, { code }),
  }),
  operation({
    method: 'PUT',
    path: '/payment-channels/{code}',
    role: 'admin',
    // It says who is asked to move money.
    needsProof: true,
    summary: 'Change what is given of a payment channel',
    body: schemas.paymentChannelChange,
    answer: schemas.paymentChannelChanged,
    async run({ operator }, { path: { code = '' }, body }) {
      const { changed, ...paymentChannel } = await updatePaymentChannel(operator, { code, ...body });
      return { paymentChannel, changed };
    },
  }),
  operation({
    method: 'POST',
    path: '/payment-channels/{code}/key',
    role: 'admin',
    needsProof: true,
    summary: 'A new key for a bridge, shown this one time; the old one ends at once',
    answer: schemas.paymentChannelAnswer,
    async run({ operator }, { path: { code = '' } }) {
      const { gatewayKey = null, ...paymentChannel } = await resetGatewayKey(operator, { code });
      return { paymentChannel, gatewayKey };
    },
  }),
];

const benefitsOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/benefits',
    role: 'viewer',
    summary: 'All benefits with their codes and the claims that wait',
    answer: schemas.benefits,
    run: async ({ operator }) => ({ benefits: (await listBenefits(operator)).map(toBenefitView) }),
  }),
  operation({
    method: 'PUT',
    path: '/benefits/{code}/fulfilment',
    role: 'admin',
    needsProof: true,
    summary: 'Where the codes of a benefit come from, for claims from now on',
    body: schemas.fulfilmentRequest,
    answer: schemas.benefitChanged,
    async run({ operator }, { path: { code: benefitCode = '' }, body: { supplierKey: key, ...body } }) {
      const supplierKey = key === undefined ? {} : { supplierKey: readKey(key) };
      const { changed, ...benefit } = await setFulfilment(operator, { benefitCode, ...body, ...supplierKey });
      return { benefit: toBenefitView(benefit), changed };
    },
  }),
  operation({
    method: 'PUT',
    path: '/benefits/{code}/presentation',
    role: 'admin',
    // Where its users are led.
    needsProof: true,
    summary: 'Change what users see of a benefit: what is given, all of it or nothing; null removes a part',
    body: schemas.presentationChange,
    answer: schemas.presentationChanged,
    async run({ operator }, { path: { code: benefitCode = '' }, body: { icon, ...texts } }) {
      const input = { benefitCode, ...texts, ...readPicture('icon', icon) };
      const { changed, leftOut, ...benefit } = await setPresentation(operator, input);
      return { benefit: toBenefitView(benefit), leftOut, changed };
    },
  }),
  operation({
    method: 'POST',
    path: '/benefits/{code}/codes',
    role: WHO_REFILLS,
    summary: 'Add codes to the pool, one on each line or a column code; all of them or none',
    maxBodyBytes: MAX_CODES_BYTES,
    body: schemas.codesRequest,
    answer: schemas.codesAnswer,
    async run({ operator }, { path: { code: benefitCode = '' }, body: { codes } }) {
      const { imported, knownBefore, repeated, served, ...benefit } = await importCodes(operator, {
        benefitCode,
        file: toBytes(codes),
      });
      return { benefit: toBenefitView(benefit), imported, knownBefore, repeated, served };
    },
  }),
  operation({
    method: 'PUT',
    path: '/benefits/{code}/low-stock',
    role: WHO_REFILLS,
    summary: 'Raise an alert when fewer codes are left in the pool',
    body: schemas.lowStockRequest,
    answer: schemas.benefitChanged,
    async run({ operator }, { path: { code: benefitCode = '' }, body: { lowStock } }) {
      const { changed, ...benefit } = await setLowStock(operator, { benefitCode, lowStock });
      return { benefit: toBenefitView(benefit), changed };
    },
  }),
];

/** Codes are counted where there are some, or should be. */
function toBenefitView({
  benefitCode,
  kind,
  supplierUrl,
  lowStock,
  products,
  presentation,
  ...counts
}: BenefitFulfilmentView) {
  const { codesLeft, codesGiven, waitingClaims: claimsWaiting } = counts;
  const hasPool = kind === 'POOL' || codesLeft + codesGiven > 0;
  return {
    benefitCode,
    kind,
    supplierUrl,
    codesLeft: hasPool ? codesLeft : null,
    claimsWaiting,
    lowStock,
    products,
    presentation,
  };
}

/** What is not base64 is skipped; a key that is not what it should be has not 32 bytes, which the step refuses. */
function readKey(base64: string): Uint8Array {
  const key = Buffer.from(base64, 'base64');
  return key.toString('base64') === base64 ? key : new Uint8Array();
}

async function* toBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

export const setupOperations: readonly Operation[] = [
  ...channelsOperations,
  ...productsOperations,
  ...paymentChannelsOperations,
  ...benefitsOperations,
];
