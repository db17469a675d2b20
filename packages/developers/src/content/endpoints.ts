export interface EndpointText {
  readonly group: string;
  /** Two or three words, for the navigation and as a heading. */
  readonly title: string;
  /** In Markdown: what it is for, and what a caller should know before the fields. */
  readonly text: string;
}

/** Groups in the order of the navigation. */
export const GROUPS = [
  'Access',
  'What can be sold',
  'Agreements',
  'Orders',
  'Payments',
  'Events',
  'Rehearsals',
] as const;

export const ENDPOINT_TEXTS: Readonly<Record<string, EndpointText>> = {
  'auth/token': {
    group: 'Access',
    title: 'Get a token',
    text: `Every other endpoint wants an access token beside the signature. This one is signed in the same way, and needs none.

A token is good for two hours. A channel may hold several at once, and a new one does not end the others: each of your processes can
have its own. On 401005 or 401006 get a new one and send the request once more.`,
  },
  'products/list': {
    group: 'What can be sold',
    title: 'List products',
    text: `The products that your channel may sell: price, length of a period, number of periods and benefits. An operator authorizes
them. The sandbox starts with \`TEST_SPU_001\` (12 periods of one month) and \`TEST_SPU_DAILY_7\` (7 periods of one day).`,
  },
  'payment-channels/list': {
    group: 'What can be sold',
    title: 'List payment channels',
    text: `The ways to an institution that your channel may use when the service debits the user. You need it to let users choose, and
to see where agreements of your own may be shared.`,
  },
  'agreements/bind-sms': {
    group: 'Agreements',
    title: 'Start binding a card',
    text: `Way A.1. Sends a verification code to the mobile that the bank knows. The user types it on your page, and
[bind-confirm](/developers/reference/agreements/bind-confirm) finishes the binding.

A code that could not be sent is still code \`0\`: look at \`smsStatus\`, and send again with the \`bindOrderNo\`. A second send may bring
another card, but not another user (400001) or payment channel (410007), and it ends the code before it.

The first code that is sent ties the login mobile to the user for good: one user has one mobile and one mobile one user, within a
channel.`,
  },
  'agreements/bind-confirm': {
    group: 'Agreements',
    title: 'Finish binding a card',
    text: `Way A.1. Hands in the code that the user has typed. With \`BIND_SUCCESS\` the binding may carry any number of orders, for any
product.

\`BIND_FAIL\` has two meanings. If the code was only wrong, another may be confirmed on the same binding. If the institution refused the
binding, the next bind-confirm is 410003, and bind-sms with the \`bindOrderNo\` begins again. A code is good for 5 minutes, in
production also for 5 tries.

503001 here means that the institution did not say. Send again with the same Idempotency-Key: it is asked again.

A user has one agreement for each card and payment channel. When a card is bound again, the earlier binding is \`REPLACED\`, and its
orders are debited on the new one from then on. The earlier \`bindOrderNo\` stands for the new one. No event tells of it.`,
  },
  'agreements/user-data': {
    group: 'Agreements',
    title: "A user's cards",
    text: `Agreements that were bound at some time, also those that have ended since. Name a user, a card or an identity document; all
that are given must match. Card data comes encrypted under the \`aesKey\` that your channel has now.`,
  },
  'agreements/replace': {
    group: 'Agreements',
    title: 'Replace an agreement',
    text: `Way A.2. Moves an order to another shared agreement, when a user has a new card at the institution. When it is answered, the
order runs on the new agreement and the old one is \`REPLACED\`. A debit on its way keeps the agreement it was started with.

A period that is \`FAIL_RETRY\`, or whose debit on its way fails, is debited again on the new agreement: at once, or with
\`retryFailedNow\` false after the product's delay. No event tells of the replacement itself.`,
  },
  'orders/create': {
    group: 'Orders',
    title: 'Create an order',
    text: `Sells a product to a user, in one of [three ways](/developers/guides/three-ways). In A the first debit happens while you wait;
in B the order is active and billed when it is answered.

| way | first period | order | what it means |
|---|---|---|---|
| A | \`SUCCESS\` | \`ACTIVE\` | debited; the benefits are issued |
| A | \`PROCESSING\` | \`INITIALIZING\` | no result within 8 s; wait for its events, or ask orders/query |
| A | \`FAIL\` | \`TERMINATED\` | declined; a new order needs a new \`externalOrderNo\` |
| B | \`BILLED\` | \`ACTIVE\` | billed; the benefits are issued, collecting is yours |

Send an Idempotency-Key. Without one a resend makes no second order either: \`externalOrderNo\` is taken, and the answer is 420002.`,
  },
  'orders/query': {
    group: 'Orders',
    title: 'Read an order',
    text: `The order as it is now, by your number or by the service's. While something is left to claim, each answer has a fresh
\`redeemUrl\`: ask when your user wants to go there.`,
  },
  'orders/list': {
    group: 'Orders',
    title: "A user's orders",
    text: 'All orders of one user, the newest first, each whole as orders/query has it. Read it by `cursor` if it may be long.',
  },
  'orders/unsubscribe': {
    group: 'Orders',
    title: 'End an order',
    text: `Ends a subscription. When it is answered, it is done: there is no next payment and no new redemption link, and periods that
were not started are \`CANCELED\`. What was paid or billed stays, with its benefits. In A the agreement is \`CANCELED\` too, unless
another order of the user runs on it, and the institution is told in the background: its refusal changes nothing for the order.

| state of the order | answer |
|---|---|
| \`ACTIVE\` | code \`0\`: it is \`UNSUBSCRIBED\` now |
| \`UNSUBSCRIBED\`, \`TERMINATED\` | code \`0\` with the order as it is: nothing happens |
| \`COMPLETED\` | 420004: its last period is over |
| \`INITIALIZING\` | 420008: the first debit has no result yet |

After 420008 ask orders/query until the first debit has a result, and try again with a new Idempotency-Key.`,
  },
  'payments/query': {
    group: 'Payments',
    title: 'Read a period',
    text: `One period of an order: what was paid, what was refunded, and what the user has claimed of it. A period that has not begun can
be read as well.`,
  },
  'events/list': {
    group: 'Events',
    title: 'List events',
    text: `What your channel was told or is about to be, newest first, for as long as the service keeps it (180 days, unless the operator
says otherwise). For a receiver that was away and wants to see what it has missed. All fields are optional.`,
  },
  'events/replay': {
    group: 'Events',
    title: 'Send events again',
    text: `Sends events again, with the same \`eventId\`, from the first push of the schedule on. Either up to 100 by their ids, in whatever
state they are; or, by a range of time, those that are \`GIVE_UP\` or \`NO_CALLBACK\`, at most 10,000 in one call, the oldest first: ask again
until \`replayed\` is 0.

If one of \`eventIds\` does not exist, nothing is sent and the answer is 400001. Replays of a channel are done one at a time: one that
has waited 10 s for the others is 429001.

An event that was acknowledged before stays \`DELIVERED\` unless it is refused to the end.`,
  },
  'sandbox/orders/advance': {
    group: 'Rehearsals',
    title: 'Move an order in time',
    text: `Runs the next periods of an order now, as if their time had come: the same steps as in earnest, each at the moment it is due,
with its events, its benefits and that moment as its time. A year takes a second or less.

| call | what happens |
|---|---|
| \`"cycles": 1\` | the next period is debited or billed |
| \`"cycles": 1, "outcomes": ["FAIL_RETRY"]\` | the debit fails and is due again a day later |
| the same again | still \`FAIL_RETRY\`, due again three days later |
| \`"cycles": 2, "outcomes": ["FAIL_RETRY", "SUCCESS"]\` | one period fails five times and is \`FAIL\`, the next is \`SUCCESS\` |
| \`"cycles": 1, "outcomes": ["AGREEMENT_INVALID"]\` | the period is \`FAIL\`, the order \`UNSUBSCRIBED\` |

Every try of a period has the outcome of the period. Of the last period that \`cycles\` asks for there is one try. In B nothing can
fail: any outcome but \`SUCCESS\` is 400001. Nothing due is code \`0\` with the order as it is.

On a payment channel behind a bridge the institution is really asked, so \`outcomes\` is 400001; where it does not say at once, the order
stays there until it does. Notices before a debit come on the way, if your channel wants them.`,
  },
  'sandbox/payments/refund': {
    group: 'Rehearsals',
    title: 'Refund a period',
    text: `Refunds are made by operators; this makes one by the same steps, with the same event, so that you can rehearse it. Way A alone:
in B you make refunds yourself, and it is 420009. A period that was not paid, or more than is left of it, is 400001.

Code \`0\` means that the refund was asked for. \`refundStatus\` says what the institution made of it: where it refuses, or does not
say at once, the period is shown as it is.`,
  },
  'sandbox/events/pull': {
    group: 'Rehearsals',
    title: 'Pull events',
    text: `Your events as they are pushed, with the exact body and the headers with the signature of now, for a receiver on your machine
that nobody can reach from outside. \`npx perennial-channel listen\` uses it. It changes nothing about what is sent to a callback address.

An event has its time before it can be seen. To miss none, ask again from a minute before \`readAt\`, and know by their \`eventId\` those
that you have had.`,
  },
};
