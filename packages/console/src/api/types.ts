import type * as schemas from '@perennial/service/console-schemas';
import type { Static } from '@perennial/wire';

/** What the operations take and answer, made from the schemas that the service validates by. */

export type Session = Static<typeof schemas.session.session>;
export type Role = Session['role'];
export type SignInWays = Static<typeof schemas.session.signInWays>;
export type SignInRequest = Static<typeof schemas.session.signInRequest>;
export type ProofRequest = Static<typeof schemas.session.proofRequest>;
export type OwnSessions = Static<typeof schemas.session.ownSessions>;
export type OwnSession = Static<typeof schemas.session.ownSession>;
export type SetupAnswer = Static<typeof schemas.session.setupAnswer>;
export type TotpBegun = Static<typeof schemas.session.totpBegun>;

export type Overview = Static<typeof schemas.overview.overview>;
export type OverviewFigures = Overview['totals'];
export type SearchAnswer = Static<typeof schemas.overview.searchAnswer>;
export type SearchResult = SearchAnswer['results'][number];

export type People = Static<typeof schemas.people.people>;
export type Person = Static<typeof schemas.people.person>;
export type PersonWithLink = Static<typeof schemas.people.personWithLink>;
export type PersonChanged = Static<typeof schemas.people.personChanged>;
export type Audit = Static<typeof schemas.people.audit>;
export type AuditEntry = Audit['entries'][number];
export type AuditVerified = Static<typeof schemas.people.auditVerified>;
