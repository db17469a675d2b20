import type * as schemas from '@perennial/service/console-schemas';
import type { Static } from '@perennial/wire';

/** Inputs and outputs of the operations, derived from the schemas that the service validates with. */

// Session and account
export type Session = Static<typeof schemas.session.session>;
export type Role = Session['role'];
export type SignInWays = Static<typeof schemas.session.signInWays>;
export type SignInRequest = Static<typeof schemas.session.signInRequest>;
export type ProofRequest = Static<typeof schemas.session.proofRequest>;
export type OwnSession = Static<typeof schemas.session.ownSession>;
export type SetupAnswer = Static<typeof schemas.session.setupAnswer>;
export type TotpBegun = Static<typeof schemas.session.totpBegun>;

// Overview and search
export type Overview = Static<typeof schemas.overview.overview>;
export type CellsOverview = Static<typeof schemas.overview.cellsOverview>;
export type WaitingCounts = Static<typeof schemas.overview.waitingCounts>;
export type OverviewFigures = Overview['totals'];
type SearchAnswer = Static<typeof schemas.overview.searchAnswer>;
export type SearchResult = SearchAnswer['results'][number];

// Events and API requests
type EventChannels = Static<typeof schemas.events.eventChannels>;
export type EventChannel = EventChannels['channels'][number];
export type EventLine = Static<typeof schemas.events.eventLine>;
export type Push = Static<typeof schemas.events.push>;
type RequestsAnswer = Static<typeof schemas.events.requestsAnswer>;
export type RequestLine = RequestsAnswer['requests'][number];
export type RequestsSummary = Static<typeof schemas.events.requestsSummary>;

// Health and set-up
export type Health = Static<typeof schemas.health.healthAnswer>;
export type ChannelSetup = Static<typeof schemas.health.channelSetup>;

// Alerts
export type Alert = Static<typeof schemas.alerts.alert>;
export type AlertAnswer = Static<typeof schemas.alerts.alertAnswer>;

// Accounting
export type Reconciliation = Static<typeof schemas.books.reconciliation>;
export type Difference = Static<typeof schemas.books.difference>;
export type SettlementMonth = Static<typeof schemas.books.settlementMonth>;
export type SettlementMonths = Static<typeof schemas.books.settlementMonths>;
export type ReconcileRequest = Static<typeof schemas.books.reconcileRequest>;

// Settings
export type Channel = Static<typeof schemas.setup.channel>;
export type ChannelCreated = Static<typeof schemas.setup.channelCreated>;
export type CredentialsAnswer = Static<typeof schemas.setup.credentialsAnswer>;
export type Product = Static<typeof schemas.setup.product>;
export type PaymentChannel = Static<typeof schemas.setup.paymentChannel>;
export type PaymentChannelAnswer = Static<typeof schemas.setup.paymentChannelAnswer>;
export type Benefit = Static<typeof schemas.setup.benefitView>;
export type CodesAnswer = Static<typeof schemas.setup.codesAnswer>;
export type ChannelRequest = Static<typeof schemas.setup.channelRequest>;
export type ChannelChange = Static<typeof schemas.setup.channelChange>;
export type ChannelAuthorized = Static<typeof schemas.setup.channelAuthorized>;
export type ChannelChanged = Static<typeof schemas.setup.channelChanged>;
export type CredentialsRequest = Static<typeof schemas.setup.credentialsRequest>;
export type ProductRequest = Static<typeof schemas.setup.productRequest>;
export type VersionRequest = Static<typeof schemas.setup.versionRequest>;
export type Branding = Channel['branding'];
export type BrandingChange = Static<typeof schemas.setup.brandingChange>;
export type StoredPicture = NonNullable<Branding['logo']>;

// Operators and the audit log
export type Person = Static<typeof schemas.people.person>;
export type PersonWithLink = Static<typeof schemas.people.personWithLink>;
type Audit = Static<typeof schemas.people.audit>;
export type AuditEntry = Audit['entries'][number];
