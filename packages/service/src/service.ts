import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import type { Logger } from 'pino';
import type { AlertTransport } from './alerts/transport.js';
import { createNoticeAcceptor } from './api/institution-notice.js';
import { createAccessTokens } from './catalog/channels/access-token.js';
import { createChannelRegistry } from './catalog/channels/channel-registry.js';
import { createCatalog } from './catalog/products/catalog.js';
import type { DeliveryOutcome } from './delivery/queue/finish-sql.js';
import { receiverKey, storePushesSeen } from './delivery/queue/receiver-health-sql.js';
import { createPushClient } from './delivery/transport/push-client.js';
import { startEngine } from './engine/engine.js';
import type { AlertSeconds } from './engine/jobs/alerts.js';
import { CLOCK_COMPARISON_SECONDS } from './engine/jobs/clock.js';
import { runEvery } from './engine/timer.js';
import { createFulfilmentRegistry, type Fulfilments } from './fulfilment/fulfilment-registry.js';
import { watchSuppliers } from './fulfilment/watch-suppliers.js';
import { createBridgeGateway } from './gateways/bridge/bridge-gateway.js';
import type { CallResult } from './gateways/call-counts.js';
import { createCallsSeen } from './gateways/calls-seen.js';
import { createCurrencyAlert } from './gateways/currency-alert.js';
import { createGatewayRegistry, type Gateways } from './gateways/gateway-registry.js';
import { createInstitutionHealth } from './gateways/institution-health.js';
import { createNoticeVerifier } from './gateways/notice-verifier.js';
import { createSandboxGateway } from './gateways/sandbox/sandbox-gateway.js';
import { STORE_HEALTH_SECONDS, storeInstitutionHealth } from './gateways/store-health.js';
import { createMinuteLimit } from './http/answers/minute-limit.js';
import { type App, createApp } from './http/app.js';
import type { ConsoleDeps } from './http/console/console-deps.js';
import { createAuthenticationFailures } from './http/limits/authentication-failures.js';
import { createFieldLimit } from './http/limits/field-limit.js';
import type { HttpLimits } from './http/limits/http-limits.js';
import { createLargeBodies, type LargeBodyLimits } from './http/limits/large-bodies.js';
import { createNodeLoad, type LoadLimits } from './http/limits/node-load.js';
import { createRedeemLimits } from './http/limits/redeem-limits.js';
import { createServiceMetrics } from './http/metrics.js';
import { createNoticePasser } from './http/pass-notice.js';
import { createRequestLog } from './http/request-log.js';
import { createAdmission } from './http/requests/admission.js';
import { createRefusalExplainer, explainUnreadableField } from './http/requests/explain-refusal.js';
import { createRequestWarnings } from './http/requests/request-warnings.js';
import type { Route } from './http/routes.js';
import { createInterfaceRoutes } from './interface.js';
import { createCellAsker } from './operator/cells/ask-cells.js';
import type { Clock } from './platform/clock.js';
import type { Database } from './platform/db/database.js';
import type { ChannelQueueLimits } from './platform/db/sharing/channel-queue.js';
import {
  connectionShareLimits,
  consoleShareLimits,
  createConnectionShares,
} from './platform/db/sharing/connection-shares.js';
import { createPeerAccess } from './platform/http-client/peer-access.js';
import { createIdempotentRunner, type IdempotencyOptions } from './platform/idempotency/run-once.js';
import { type ClockLimits, createClockWatch } from './platform/installation/clock-watch.js';
import { createKeyedHasher } from './platform/secrets/keyed-hasher.js';
import type { Vault } from './platform/secrets/vault.js';
import { DEFAULT_DATABASE_POOL, DEFAULT_REDEEM_OPENS_PER_MINUTE, type Settings } from './platform/settings.js';
import { createCodesShown } from './redeem/codes-shown.js';
import { createUnsubscriber } from './redeem/unsubscribe.js';
import { createMessageSender } from './redeem/user-messages.js';
import { createRedeemLinks } from './subscriptions/domain/orders/redeem-links.js';
import { createClaimer } from './subscriptions/steps/benefits/claim-benefit.js';
import { createSharedClaimer } from './subscriptions/steps/benefits/claim-together.js';
import { createAgreementEnder } from './subscriptions/steps/ending/end-by-institution.js';
import { createBatchSettler } from './subscriptions/steps/payments/batch-settler.js';

/** Settings that the node itself uses. */
type NodeSettings = Pick<Settings, 'environment' | 'trustedProxies'> &
  Partial<
    Pick<
      Settings,
      | 'cell'
      | 'cells'
      | 'databasePool'
      | 'redeemOpensPerMinute'
      | 'messageHook'
      | 'metricsToken'
      | 'eventsRetentionDays'
      | 'agreementDataDays'
      | 'pushesPerAddress'
      | 'developers'
      | 'console'
      | 'refundApprovalCent'
      | 'refundDailyCent'
      | 'singleSignOn'
      | 'peers'
      | 'totpRoles'
      | 'readsOnly'
    >
  >;

/** Addresses of a node's parts. URLs are functions, because a port that the system chooses is known only later. */
interface NodeAddresses {
  /** URL at which channels and users reach the service. */
  readonly publicUrl: () => string;
  /** URL of redemption links, if they use a different host. */
  readonly redeemUrl?: () => string;
  /** URL of the console, including its path prefix. */
  readonly consoleUrl?: () => string;
  /** True if the console is on a separate listener. */
  readonly isConsoleApart?: boolean;
  /** True if /metrics and /healthz are on a separate listener. */
  readonly isMonitoredApart?: boolean;
}

/** Replaces the usual limits in tests. */
export interface TestLimits {
  /** The interval at which the node stores the health of institutions and suppliers. */
  readonly healthSeconds?: number;
  readonly alertSeconds?: AlertSeconds;
  readonly authFailuresPerMinute?: number;
  readonly clockLimits?: Partial<ClockLimits>;
  readonly debitDeadlineMs?: number;
  readonly developersFilesPerMinute?: number;
  readonly httpLimits?: Partial<HttpLimits>;
  readonly idempotency?: IdempotencyOptions;
  readonly largeBodies?: Partial<LargeBodyLimits>;
  readonly consoleBodies?: Partial<LargeBodyLimits>;
  readonly noticeBodies?: Partial<LargeBodyLimits>;
  readonly load?: Partial<LoadLimits>;
  readonly readingSeconds?: number;
  readonly shareLimits?: Partial<ChannelQueueLimits>;
}

export interface ServiceDeps extends NodeSettings, NodeAddresses {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Logger;
  /** Currency of every amount. Default: CNY. */
  readonly currency?: string;
  /** False if this node does not run the engine. Default: true. */
  readonly engine?: boolean;
  /** True if the calls of channels are recorded. */
  readonly requestLog?: boolean;
  /** True if events may be sent to this machine, as in a sandbox on its embedded database. */
  readonly localCallbacks?: boolean;
  /** Transports that send alerts to operators. The list of alerts exists in any case. */
  readonly alertWays?: readonly AlertTransport[];
  /** Replaces the gateways of the payment channels. */
  readonly gateways?: Gateways;
  /** Replaces the fulfilments of the benefits. */
  readonly fulfilments?: Fulfilments;
  /** Additional routes. */
  readonly moreRoutes?: readonly Route[];
  readonly testLimits?: TestLimits;
}

/**
 * The maximum number of authentication failures per minute from one address with one app id. Further requests with this
 * address and app id are refused without a signature check.
 */
const AUTH_FAILURES_PER_MINUTE = 600;

export interface Service extends App {
  /** Resolves after the first comparison of the clocks, even if it failed. */
  readonly clockCompared: Promise<void>;
  stop(): Promise<void>;
}

/** Creates all parts of a node. main.ts reads the settings and handles signals. */
export function createService(deps: ServiceDeps): Service {
  const { database, vault, clock, log, currency = DEFAULT_CURRENCY, testLimits = {} } = deps;
  const failuresPerMinute = testLimits.authFailuresPerMinute ?? AUTH_FAILURES_PER_MINUTE;
  const shares = createConnectionShares(database, {
    ...connectionShareLimits(deps.databasePool ?? DEFAULT_DATABASE_POOL),
    ...testLimits.shareLimits,
  });
  const hasEngine = deps.engine !== false && !deps.readsOnly;
  const metrics = createServiceMetrics(database, shares, hasEngine);
  const watch = createClockWatch({ ...deps, ...testLimits });
  const tokens = createAccessTokens(vault, clock);
  const channels = createChannelRegistry(database, vault);
  const institutionNumbers = createKeyedHasher(database, vault, 'institution numbers');
  const bankMobiles = createKeyedHasher(database, vault, 'bank mobiles');
  const institutionHealth = createInstitutionHealth();
  const receivers = createCallsSeen();
  const peerAccess = createPeerAccess(deps.peers, log);
  const gateways = institutionHealth.watch(
    deps.gateways ??
      createGatewayRegistry(deps, {
        sandbox: () => createSandboxGateway(clock),
        bridge: (url, key, code) => {
          const onHandshake = createCurrencyAlert(database, code, currency);
          return createBridgeGateway({ url, key, currency, onHandshake, clock, log, peers: peerAccess });
        },
      }),
  );
  const fulfilments = watchSuppliers(
    deps.fulfilments ?? createFulfilmentRegistry({ ...deps, peerAccess }),
    institutionHealth.counter,
  );
  const { counts } = metrics.business;
  const settle = createBatchSettler(database, clock, counts);
  const redeemUrl = deps.redeemUrl ?? deps.publicUrl;
  const pushClient = createPushClient({ allowLocalhost: deps.localCallbacks === true });
  const isSandbox = deps.environment === 'sandbox';
  const codesShown = deps.readsOnly ? undefined : createCodesShown({ database, clock, log });
  const requestLog =
    deps.requestLog && !deps.readsOnly
      ? createRequestLog({
          database,
          clock,
          log,
          isKnown: (appId) => channels.getFromMemory(appId) !== undefined,
          countDropped: metrics.countUnlogged,
        })
      : undefined;
  const explainer = isSandbox ? createRefusalExplainer({ ...deps, channels }) : undefined;
  const warnings = isSandbox ? createRequestWarnings(createCatalog(database)) : undefined;
  const app = createApp({
    ...deps,
    httpLimits: testLimits.httpLimits,
    routes: [
      ...createInterfaceRoutes({
        ...deps,
        ...testLimits,
        redeemUrl,
        tokens,
        channels,
        pushClient,
        gateways,
        institutionNumbers,
        bankMobiles,
        counts,
      }),
      ...(deps.moreRoutes ?? []),
    ],
    load: createNodeLoad(testLimits.load),
    shares,
    clockWatch: watch,
    metrics,
    requestLog,
    readsOnly: deps.readsOnly === true,
    failures: createAuthenticationFailures({
      limit: createMinuteLimit(failuresPerMinute, clock),
      channels,
      tokens,
    }),
    bodies: createLargeBodies(testLimits.largeBodies),
    explainer,
    warnings,
    admit: createAdmission({ database, tokens, channels, clock, observeBatch: metrics.observeBatch }),
    limitFields: createFieldLimit({ database, clock, explain: isSandbox ? explainUnreadableField : undefined }),
    runOnce: createIdempotentRunner(testLimits.idempotency),
    redeem: {
      database,
      shares,
      channels,
      clock,
      log,
      redeemUrl,
      currency,
      limits: createRedeemLimits(deps.redeemOpensPerMinute ?? DEFAULT_REDEEM_OPENS_PER_MINUTE, clock),
      claim: createClaimer({ clock, log, fulfilments, counts }),
      claimTogether: createSharedClaimer({ database, clock, counts }),
      codesShown,
      unsubscribe: createUnsubscriber(clock),
      sendMessage: deps.messageHook && createMessageSender(deps.messageHook, clock, log),
    },
    developers: { ...deps, ...testLimits, currency },
    console:
      deps.console === 'off' ? undefined : createConsoleDeps({ ...deps, currency }, { channels, gateways, pushClient }),
    notices: {
      clock,
      bodies: createLargeBodies({ ...NOTICE_BODIES, ...testLimits.noticeBodies }),
      verifier: createNoticeVerifier(database, gateways, clock),
      limit: createMinuteLimit(failuresPerMinute, clock),
      passOn: createNoticePasser({ cell: deps.cell ?? 0, cells: deps.cells ?? [], log }),
      accept: createNoticeAcceptor({
        database,
        settle,
        endAgreement: createAgreementEnder({ database, institutionNumbers, clock }),
      }),
    },
  });
  const alertSender = () => ({ environment: deps.environment, service: deps.publicUrl() });
  const engine = hasEngine
    ? startEngine({
        ...deps,
        ...testLimits,
        channels,
        links: createRedeemLinks(redeemUrl, clock),
        gateways,
        fulfilments,
        settle,
        alertSender,
        clockWatch: watch,
        metrics: metrics.business,
        onPush({ channelId, appId, url, outcome, ms }) {
          institutionHealth.counter.countCall('CHANNEL', appId, PUSH_RESULTS[outcome], ms);
          receivers.note(receiverKey(channelId, url), outcome === 'ACCEPTED');
        },
      })
    : undefined;
  const storeHealth = async () => {
    await storeInstitutionHealth(database, institutionHealth);
    await receivers.flush((seen) => storePushesSeen(database, seen));
  };
  const healthSeconds = testLimits.healthSeconds ?? STORE_HEALTH_SECONDS;
  const clockJob = deps.readsOnly
    ? runEvery(CLOCK_COMPARISON_SECONDS, 'clock', log, () => watch.compare(), { atOnce: true })
    : undefined;
  const healthJob = deps.readsOnly ? undefined : runEvery(healthSeconds, 'health', log, storeHealth);
  return {
    ...app,
    clockCompared: watch.firstLook,
    async stop() {
      await Promise.all([app.drain(), engine?.stop()]);
      await Promise.all([healthJob?.stop(), clockJob?.stop()]);
      // The database may be away. Then the counts of the last seconds are lost.
      if (healthJob) await storeHealth().catch(() => undefined);
      await Promise.all([requestLog?.stop(), codesShown?.stop()]);
      metrics.business.stop();
      await Promise.all([gateways.close?.(), fulfilments.close()]);
    },
  };
}

/** How the outcomes of pushes are counted in the health of callbacks. */
const PUSH_RESULTS: Readonly<Record<DeliveryOutcome, CallResult>> = {
  ACCEPTED: 'succeeded',
  REFUSED: 'declined',
  TIMEOUT: 'unknown',
  UNREACHABLE: 'unknown',
  FORBIDDEN: 'unknown',
};

/**
 * Each address has room for five files of the maximum size. Only operators who have signed in send large bodies. At
 * 50 KB/s, a slow mobile connection may stall for 18 s of each 20 s.
 */
const CONSOLE_BODIES: Partial<LargeBodyLimits> = {
  bytes: 67_108_864,
  bytesPerOwner: 33_554_432,
  windowMs: 20_000,
  bytesPerWindow: 65_536,
};

/** Notices have their own room, so that bodies of strangers elsewhere keep out no notice. */
const NOTICE_BODIES: Partial<LargeBodyLimits> = { bytes: 8_388_608, bytesPerOwner: 262_144 };

/** The number under which requests without an operator share the console's connections. Ids of operators begin at 1. */
const NOBODY = 0;

function createConsoleDeps(
  deps: ServiceDeps & { readonly currency: string },
  { channels, gateways, pushClient }: Pick<ConsoleDeps, 'channels' | 'pushClient'> & { readonly gateways: Gateways },
): ConsoleDeps {
  const { vault, clock, log, environment, currency, localCallbacks = false, cells = [] } = deps;
  const { databaseFor } = createConnectionShares(
    deps.database,
    consoleShareLimits(deps.databasePool ?? DEFAULT_DATABASE_POOL),
  );
  return {
    get database() {
      return databaseFor(NOBODY);
    },
    vault,
    clock,
    log,
    channels,
    pushClient,
    operator: { vault, clock, environment, currency, localCallbacks, gateways, cells },
    databaseOf: databaseFor,
    bodies: createLargeBodies({ ...CONSOLE_BODIES, ...deps.testLimits?.consoleBodies }),
    cells: createCellAsker({ database: databaseFor(NOBODY), vault, clock, cell: deps.cell ?? 0, cells }),
    consoleUrl: deps.consoleUrl ?? (() => `${deps.publicUrl()}/console`),
    publicUrl: deps.publicUrl,
    redeemUrl: deps.redeemUrl ?? deps.publicUrl,
    refundApprovalCent: deps.refundApprovalCent ?? 0,
    refundDailyCent: deps.refundDailyCent ?? 0,
    singleSignOn: deps.singleSignOn,
    totpRoles: deps.totpRoles ?? [],
  };
}
