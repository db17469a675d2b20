import {
  type BindConfirmData,
  type BindSmsData,
  encryptField,
  type OrdersCreateRequest,
  type SharedAgreement,
} from '@perennial/wire';
import type { Logger } from 'pino';
import { createBindConfirmAction } from '../api/agreements-bind-confirm.js';
import { createBindSmsAction } from '../api/agreements-bind-sms.js';
import { createReplaceAction } from '../api/agreements-replace.js';
import { createOrdersCreateAction } from '../api/orders-create.js';
import { createOrdersUnsubscribeAction } from '../api/orders-unsubscribe.js';
import type { Action } from '../catalog/action.js';
import type { Channel } from '../catalog/channels/channel.js';
import { createCatalog } from '../catalog/products/catalog.js';
import type { Gateways } from '../gateways/gateway-registry.js';
import { describedAnswer } from '../platform/answers/answer.js';
import { BACKGROUND_CALLER } from '../platform/db/sharing/caller.js';
import { createIdempotentRunner } from '../platform/idempotency/run-once.js';
import { createKeyedHasher } from '../platform/secrets/keyed-hasher.js';
import type { Vault } from '../platform/secrets/vault.js';
import type { OrderDescription } from '../subscriptions/domain/orders/order-description.js';
import { createDeductedOrderCreator } from '../subscriptions/steps/orders/create-deducted-order.js';
import { createOrderStore } from '../subscriptions/steps/orders/order-store.js';
import { createKnownDebitSettler } from '../subscriptions/steps/payments/settle-known-debits.js';
import { createAgreementNumbers } from '../subscriptions/store/agreements/agreements-sql.js';
import { createOrderNumbers } from '../subscriptions/store/orders/new-orders-sql.js';
import { createRedeemLinks } from '../subscriptions/store/orders/redeem-links.js';
import { SMS_CODE } from './institution.js';
import type { StoryTime } from './story-time.js';

/** A card and whose it is. */
export interface StoryCard {
  readonly bankCardNo: string;
  readonly bankMobile: string;
  readonly certificateNo: string;
  readonly realName: string;
}

/** What channels ask the interface for, by the actions of its endpoints. */
export interface InterfaceCalls {
  sendBindCode(channel: Channel, asked: BindingAsked): Promise<BindSmsData>;
  confirmBinding(channel: Channel, bindOrderNo: string): Promise<BindConfirmData>;
  createOrder(channel: Channel, request: OrdersCreateRequest): Promise<OrderDescription>;
  unsubscribe(channel: Channel, externalOrderNo: string, reason: string): Promise<void>;
  replaceAgreement(channel: Channel, externalOrderNo: string, agreement: SharedAgreement): Promise<void>;
}

export interface BindingAsked {
  readonly channelUserId: string;
  readonly mobile: string;
  readonly paymentChannelCode: string;
  readonly bankCode: string;
  readonly card: StoryCard;
}

export interface InterfaceCallDeps {
  readonly story: StoryTime;
  readonly vault: Vault;
  readonly gateways: Gateways;
  readonly log: Logger;
}

export function createInterfaceCalls({ story, vault, gateways, log }: InterfaceCallDeps): InterfaceCalls {
  const { database, clock } = story;
  const shared = {
    database,
    gateways,
    clock,
    log,
    environment: 'sandbox',
    catalog: createCatalog(database),
    institutionNumbers: createKeyedHasher(database, vault, 'institution numbers'),
    bankMobiles: createKeyedHasher(database, vault, 'bank mobiles'),
    // No answer of a story is sent to anybody, so the links in them lead nowhere.
    links: createRedeemLinks(() => '', clock),
    orderNumbers: createOrderNumbers(database),
    agreementNumbers: createAgreementNumbers(database),
    store: createOrderStore(database),
    settleKnown: createKnownDebitSettler(database),
  } as const;
  const sendBindCode = createBindSmsAction(shared);
  const confirmBinding = createBindConfirmAction(shared);
  const createOrder = createOrdersCreateAction({ ...shared, deduct: createDeductedOrderCreator(shared) });
  const unsubscribe = createOrdersUnsubscribeAction(clock);
  const replaceAgreement = createReplaceAction(shared);
  const runOnce = createIdempotentRunner();

  /** As a request without an Idempotency-Key that was admitted and read. */
  async function call<Request, Data>(
    action: Action<Request, Data>,
    channel: Channel,
    request: Request,
  ): Promise<Data | undefined> {
    let answered: Data | undefined;
    const context = {
      channel,
      origin: { requestId: 'story' },
      caller: BACKGROUND_CALLER,
      database,
      place: { reserve: () => undefined },
      answer(data: Data) {
        answered = data;
        return describedAnswer({}, '');
      },
    };
    const asked = { ...context, channelId: channel.channelId, key: undefined, path: '', known: undefined };
    await runOnce({ ...asked, bodySha256: Buffer.alloc(0) }, (once) => action({ ...context, once }, request));
    return answered;
  }

  return {
    async sendBindCode(channel, { card, mobile, ...asked }) {
      const mobileEncrypted = encryptField(mobile, channel.aesKey);
      return required(
        await call(sendBindCode, channel, {
          ...asked,
          mobileEncrypted,
          certType: 'ID_CARD',
          ...encryptCard(channel, card),
        }),
      );
    },
    async confirmBinding(channel, bindOrderNo) {
      const smsCodeEncrypted = encryptField(SMS_CODE, channel.aesKey);
      return required(await call(confirmBinding, channel, { bindOrderNo, smsCodeEncrypted }));
    },
    createOrder: async (channel, request) => required(await call(createOrder, channel, request)),
    async unsubscribe(channel, externalOrderNo, reason) {
      await call(unsubscribe, channel, { externalOrderNo, reason });
    },
    async replaceAgreement(channel, externalOrderNo, newSharedAgreement) {
      await call(replaceAgreement, channel, { externalOrderNo, newSharedAgreement });
    },
  };
}

export function encryptCard(channel: Channel, card: StoryCard) {
  const encrypt = (text: string) => encryptField(text, channel.aesKey);
  return {
    bankCardNoEncrypted: encrypt(card.bankCardNo),
    bankMobileEncrypted: encrypt(card.bankMobile),
    certificateNoEncrypted: encrypt(card.certificateNo),
    realNameEncrypted: encrypt(card.realName),
  };
}

function required<Data>(data: Data | undefined): Data {
  if (data === undefined) throw new Error('an action that did not throw has answered');
  return data;
}
