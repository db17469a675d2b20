import type { EndpointName } from '@perennial/wire';

/** Who and what the story of the examples is about, and when all of it happens. */

export interface Example {
  readonly endpoint: EndpointName;
  /** Unique within the endpoint. */
  readonly name: string;
  readonly summary: string;
  /** Fields that end in Encrypted hold the text that is encrypted. */
  readonly request: Readonly<Record<string, unknown>>;
  /** `data` of the answer. */
  readonly answer: Readonly<Record<string, unknown>>;
}

/** Stands for the address of the installation, which is put in when a page is served. */
export const PUBLIC_URL = '__PUBLIC_URL__';

export const STORY_TIME = '2026-01-15 12:00:00';
/** When the periods of a monthly order are due that was made then. */
export const DUE = Array.from({ length: 12 }, (_, month) => `2026-${String(month + 1).padStart(2, '0')}-15 12:00:00`);

export const ALICE = 'user-alice';
export const BORIS = 'user-boris';
export const CHEN = 'user-chen';

export interface Order {
  readonly orderNo: string;
  readonly externalOrderNo: string;
  readonly channelUserId: string;
}
export const A1: Order = { orderNo: '100000001000', externalOrderNo: 'own-1001', channelUserId: ALICE };
export const A2: Order = { orderNo: '100000001001', externalOrderNo: 'own-1002', channelUserId: BORIS };
export const B: Order = { orderNo: '100000001002', externalOrderNo: 'own-1003', channelUserId: CHEN };

/** What Alice has bound. */
export const BINDING = { bindOrderNo: '200000000001', agreementNo: 'AG200000000001', card: '6222020000001234567' };
/** What Boris pays with, before and after. The service has numbers of its own for agreements that are shared. */
export const SHARED = { agreementNo: 'AG200000000002', shared: 'SA-70021', card: '6222020000007654321' };
export const RENEWED = { agreementNo: 'AG200000000003', shared: 'SA-70022', card: '6222020000008888888' };

export const PAGE = { page: 1, size: 100, hasMore: false, nextCursor: null };

export const cardFields = (bankCardNo: string) => ({
  bankCardNoEncrypted: bankCardNo,
  certificateNoEncrypted: '110101199001011234',
  realNameEncrypted: '张三',
  bankMobileEncrypted: '13800000001',
});

export const sharedAgreement = ({ shared, card }: typeof SHARED) => ({
  paymentChannelCode: 'MOCKPAY',
  sharedAgreementNo: shared,
  ...cardFields(card),
  channelUserId: BORIS,
});
