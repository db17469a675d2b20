import type * as schemas from '@perennial/service/console-schemas';
import type { Static } from '@perennial/wire';

/** What the operations take and answer, made from the schemas that the service validates by. */

// Session and account
export type Session = Static<typeof schemas.session.session>;
export type Role = Session['role'];
export type SignInWays = Static<typeof schemas.session.signInWays>;
export type SignInRequest = Static<typeof schemas.session.signInRequest>;
export type ProofRequest = Static<typeof schemas.session.proofRequest>;
export type OwnSessions = Static<typeof schemas.session.ownSessions>;
export type OwnSession = Static<typeof schemas.session.ownSession>;
export type SetupAnswer = Static<typeof schemas.session.setupAnswer>;
export type TotpBegun = Static<typeof schemas.session.totpBegun>;

// Overview and search
export type Overview = Static<typeof schemas.overview.overview>;
export type WaitingCounts = Static<typeof schemas.overview.waitingCounts>;
export type OverviewFigures = Overview['totals'];
export type SearchAnswer = Static<typeof schemas.overview.searchAnswer>;
export type SearchResult = SearchAnswer['results'][number];

// Orders and users
export type OrdersAnswer = Static<typeof schemas.orders.ordersAnswer>;
export type OrderLine = Static<typeof schemas.orders.orderLine>;
export type OrdersTotals = Static<typeof schemas.orders.ordersTotals>;
export type OrderAnswer = Static<typeof schemas.orders.orderAnswer>;
export type OrderAction = Static<typeof schemas.orders.orderAction>;
export type TimelineEntry = Static<typeof schemas.orders.timelineEntry>;
export type Preview = Static<typeof schemas.orders.preview>;
export type UnsubscribeAnswer = Static<typeof schemas.orders.unsubscribeAnswer>;
export type RetryAnswer = Static<typeof schemas.orders.retryAnswer>;
export type RefundAnswer = Static<typeof schemas.orders.refundAnswer>;
export type Note = Static<typeof schemas.orders.note>;
export type Unmasked = Static<typeof schemas.orders.unmasked>;
export type UserAnswer = Static<typeof schemas.orders.userAnswer>;

// Failed payments, bulk work, approvals
export type FailedAnswer = Static<typeof schemas.payments.failedAnswer>;
export type FailedPayment = Static<typeof schemas.payments.failedPayment>;
export type FailedSummary = Static<typeof schemas.payments.failedSummary>;
export type BulkRun = Static<typeof schemas.payments.bulkRun>;
export type BulkRuns = Static<typeof schemas.payments.bulkRuns>;
export type BulkItems = Static<typeof schemas.payments.bulkItems>;
export type BulkItem = BulkItems['items'][number];
export type Approval = Static<typeof schemas.payments.approval>;
export type Approvals = Static<typeof schemas.payments.approvals>;

// Events and API requests
export type EventChannels = Static<typeof schemas.events.eventChannels>;
export type EventChannel = EventChannels['channels'][number];
export type EventsAnswer = Static<typeof schemas.events.eventsAnswer>;
export type EventLine = Static<typeof schemas.events.eventLine>;
export type EventAnswer = Static<typeof schemas.events.eventAnswer>;
export type Push = Static<typeof schemas.events.push>;
export type ReplayAnswer = Static<typeof schemas.events.replayAnswer>;
export type PauseAnswer = Static<typeof schemas.events.pauseAnswer>;
export type TestEventAnswer = Static<typeof schemas.events.testEventAnswer>;
export type RequestsAnswer = Static<typeof schemas.events.requestsAnswer>;
export type RequestLine = RequestsAnswer['requests'][number];
export type RequestsSummary = Static<typeof schemas.events.requestsSummary>;

// Alerts
export type Alert = Static<typeof schemas.alerts.alert>;
export type Alerts = Static<typeof schemas.alerts.alerts>;
export type AlertAnswer = Static<typeof schemas.alerts.alertAnswer>;

// Books
export type Reconciliation = Static<typeof schemas.books.reconciliation>;
export type Reconciliations = Static<typeof schemas.books.reconciliations>;
export type Difference = Static<typeof schemas.books.difference>;
export type Differences = Static<typeof schemas.books.differences>;
export type SettlementMonth = Static<typeof schemas.books.settlementMonth>;
export type SettlementMonths = Static<typeof schemas.books.settlementMonths>;
export type ReconcileRequest = Static<typeof schemas.books.reconcileRequest>;
export type DifferenceChanged = Static<typeof schemas.books.differenceChanged>;

// Set-up
export type Channel = Static<typeof schemas.setup.channel>;
export type Channels = Static<typeof schemas.setup.channels>;
export type ChannelCreated = Static<typeof schemas.setup.channelCreated>;
export type CredentialsAnswer = Static<typeof schemas.setup.credentialsAnswer>;
export type Product = Static<typeof schemas.setup.product>;
export type Products = Static<typeof schemas.setup.products>;
export type PaymentChannel = Static<typeof schemas.setup.paymentChannel>;
export type PaymentChannels = Static<typeof schemas.setup.paymentChannels>;
export type PaymentChannelAnswer = Static<typeof schemas.setup.paymentChannelAnswer>;
export type Benefit = Static<typeof schemas.setup.benefitView>;
export type Benefits = Static<typeof schemas.setup.benefits>;
export type CodesAnswer = Static<typeof schemas.setup.codesAnswer>;
export type ChannelRequest = Static<typeof schemas.setup.channelRequest>;
export type ChannelChange = Static<typeof schemas.setup.channelChange>;
export type ChannelAuthorized = Static<typeof schemas.setup.channelAuthorized>;
export type ChannelChanged = Static<typeof schemas.setup.channelChanged>;
export type CredentialsRequest = Static<typeof schemas.setup.credentialsRequest>;
export type ProductRequest = Static<typeof schemas.setup.productRequest>;
export type VersionRequest = Static<typeof schemas.setup.versionRequest>;
export type PaymentChannelRequest = Static<typeof schemas.setup.paymentChannelRequest>;
export type PaymentChannelChange = Static<typeof schemas.setup.paymentChannelChange>;
export type PaymentChannelChanged = Static<typeof schemas.setup.paymentChannelChanged>;
export type BenefitChanged = Static<typeof schemas.setup.benefitChanged>;
export type Branding = Channel['branding'];
export type BrandingChange = Static<typeof schemas.setup.brandingChange>;
export type BrandingChanged = Static<typeof schemas.setup.brandingChanged>;
export type PresentationChange = Static<typeof schemas.setup.presentationChange>;
export type PresentationChanged = Static<typeof schemas.setup.presentationChanged>;
export type StoredPicture = NonNullable<Branding['logo']>;
export type ImageAnswer = Static<typeof schemas.setup.imageAnswer>;
export type FulfilmentRequest = Static<typeof schemas.setup.fulfilmentRequest>;

// People and the audit log
export type People = Static<typeof schemas.people.people>;
export type Person = Static<typeof schemas.people.person>;
export type PersonWithLink = Static<typeof schemas.people.personWithLink>;
export type PersonChanged = Static<typeof schemas.people.personChanged>;
export type Audit = Static<typeof schemas.people.audit>;
export type AuditEntry = Audit['entries'][number];
export type AuditVerified = Static<typeof schemas.people.auditVerified>;
