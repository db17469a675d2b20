export interface EndpointText {
  readonly group: string;
  /** Two or three words, for the navigation and as a heading. */
  readonly title: string;
  /** Markdown, shown above the fields. */
  readonly text: string;
}

/** The groups with a description, in the order in which the navigation lists them. */
export const GROUP_TEXTS: Readonly<Record<string, string>> = {
  Access: 'Access tokens, and the diagnosis of refused signatures.',
  Catalog: 'Products and payment channels that your channel may use.',
  Agreements: "The users' cards and agreements, for orders that the service debits.",
  Orders: 'Subscriptions: create, read and end them.',
  Payments: 'The periods of orders.',
  Events: 'The changes that the service pushes to your callback address.',
  Sandbox: 'Time travel, refunds, pushes on demand, and your own settings. Not available in production.',
};

export const GROUPS = Object.keys(GROUP_TEXTS);

export const ENDPOINT_TEXTS: Readonly<Record<string, EndpointText>> = {
  'auth/token': {
    group: 'Access',
    title: 'Get a token',
    text: `Returns an access token, which every other endpoint requires in addition to the signature. This request is signed in the
same way, without a token.

A token is valid for two hours. A channel may have several tokens at once: a new one does not invalidate the others, so each of your
processes can have its own. On 401005 or 401006 get a new token and resend the request once.`,
  },
  'products/list': {
    group: 'Catalog',
    title: 'List products',
    text: `Returns the products that your channel may sell: price, length of a period, number of periods and benefits. Your operator
authorizes them. The demo channel has \`TEST_SPU_001\` (12 periods of one month), \`TEST_SPU_DAILY_7\` (7 periods
of one day) and \`TEST_SPU_ONCE\` (1 period of one month).`,
  },
  'payment-channels/list': {
    group: 'Catalog',
    title: 'List payment channels',
    text: `Returns the payment channels that the service may use to debit your users. Use it to let users choose one, and to see which
ones accept your shared agreements.`,
  },
  'agreements/bind-sms': {
    group: 'Agreements',
    title: 'Start binding a card',
    text: `A.1 only. Sends a verification code to the mobile that is registered with the bank. The user types the code on your page, and
[bind-confirm](/developers/reference/agreements/bind-confirm) finishes the binding.

If the code could not be sent, the answer is still code \`0\`: check \`smsStatus\`, and call this endpoint again with the \`bindOrderNo\`.
The second call may change the card, but not the user (400001) or the payment channel (410007). It invalidates the previous code.

The first code that is sent registers the login mobile for the user permanently. Within a channel, a user has one mobile, and a mobile
belongs to one user.`,
  },
  'agreements/bind-confirm': {
    group: 'Agreements',
    title: 'Finish binding a card',
    text: `A.1 only. Submits the code that the user typed. After \`BIND_SUCCESS\` the binding can be used for any number of orders and
products.

\`BIND_FAIL\` has two meanings, which \`codeRetryable\` tells apart. With \`codeRetryable: true\` only the code was wrong: submit another
one on the same binding. Without \`codeRetryable\` the binding has failed, and the next bind-confirm is 410003: start again with bind-sms
and the \`bindOrderNo\`. A code is valid for 5 minutes, in production for at most 5 attempts.

[The sandbox](/developers/guides/sandbox#bind-a-card) has a trigger for each of these answers.

503001 means that the institution did not return a result. Resend with the same Idempotency-Key, and the service asks again.

A user has one agreement per card and payment channel. If a card is bound again, the earlier binding is \`REPLACED\`, and its orders are
debited on the new one. The earlier \`bindOrderNo\` then refers to the new binding. No event is sent.`,
  },
  'agreements/user-data': {
    group: 'Agreements',
    title: "A user's cards",
    text: `Returns agreements that have been bound, including those that have ended. Filter by user, card or identity document; all given
filters must match. Card data is encrypted with the current \`aesKey\` of your channel. Values of an ended
agreement are masked after some time, by default 30 days: the card number is \`****\` and its last four digits, the others are \`****\`.`,
  },
  'agreements/replace': {
    group: 'Agreements',
    title: 'Replace an agreement',
    text: `A.2 only. Moves an order to another shared agreement, for example when a user has a new card at the institution. When the
answer arrives, the order uses the new agreement, and the old one is \`REPLACED\`. A debit in flight still uses the old agreement.

A period that is \`FAIL_RETRY\`, or whose debit in flight fails, is retried on the new agreement: immediately, or after the product's delay
if \`retryFailedNow\` is false. No event is sent for the replacement itself.`,
  },
  'orders/create': {
    group: 'Orders',
    title: 'Create an order',
    text: `Sells a product to a user, in one of [three ways](/developers/guides/three-ways). In A the call waits for the first debit. In B
the order is active and its first period is billed when the answer arrives.

| way | first period | order | meaning |
|---|---|---|---|
| A | \`SUCCESS\` | \`ACTIVE\` | debited; the benefits are issued |
| A | \`PROCESSING\` | \`INITIALIZING\` | no result within 8 s; wait for the events, or poll orders/query |
| A | \`FAIL\` | \`TERMINATED\` | declined; a new order needs a new \`externalOrderNo\` |
| B | \`BILLED\` | \`ACTIVE\` | billed; the benefits are issued, and you charge the user |

Send an Idempotency-Key. Without one, a resend does not create a second order either: \`externalOrderNo\` is in use, so the answer is
420002.`,
  },
  'orders/query': {
    group: 'Orders',
    title: 'Read an order',
    text: `Returns the current state of an order, by your number or the service's. While benefits are left to claim, each answer has a new
\`redeemUrl\`: call this endpoint when your user wants to open the page.`,
  },
  'orders/list': {
    group: 'Orders',
    title: "A user's orders",
    text: 'Returns all orders of one user, newest first, each as in orders/query. Use `cursor` if the list may be long.',
  },
  'orders/unsubscribe': {
    group: 'Orders',
    title: 'End an order',
    text: `Cancels a subscription. The cancellation is complete when the answer arrives: no further payments, no new redemption links, and
periods that have not started are \`CANCELED\`. Periods that were paid or billed keep their benefits. In A the agreement is \`CANCELED\`
too, unless another order of the user uses it. The service notifies the institution in the background; if the institution refuses, the
order is still canceled.

| status of the order | answer |
|---|---|
| \`ACTIVE\` | code \`0\`: the order is now \`UNSUBSCRIBED\` |
| \`UNSUBSCRIBED\`, \`TERMINATED\` | code \`0\` with the unchanged order |
| \`COMPLETED\` | 420004: the last period is paid, has failed or is billed |
| \`INITIALIZING\` | 420008: the first debit has no result yet |

After 420008 poll orders/query until the first debit has a result, then retry with a new Idempotency-Key.`,
  },
  'payments/query': {
    group: 'Payments',
    title: 'Read a period',
    text: `Returns one period of an order: the amounts paid and refunded, and the benefits that the user has claimed. Future periods can
be read too.`,
  },
  'events/list': {
    group: 'Events',
    title: 'List events',
    text: `Returns the events of your channel and their delivery, newest first. The service keeps events for 180 days by default. Use this
endpoint to find the events that your receiver missed. All fields are optional.`,
  },
  'events/replay': {
    group: 'Events',
    title: 'Send events again',
    text: `Sends events again, with the same \`eventId\`, and restarts their retry schedule. Select either up to 100 events by id, in any
delivery status; or a time range, for events that are \`GIVE_UP\` or \`NO_CALLBACK\`. One call replays at most 10,000 events, oldest first:
repeat it until \`replayed\` is 0.

If one of the \`eventIds\` does not exist, nothing is sent and the answer is 400001. Replays of a channel run one at a time: a call that
has waited 10 s for others is 429001.

An event that was acknowledged before stays \`DELIVERED\`, unless your receiver refuses every push of the replay.`,
  },
  'sandbox/orders/advance': {
    group: 'Sandbox',
    title: 'Move an order in time',
    text: `Runs the next periods of an order now, in the same steps as in production. Each step is recorded at its due time, with its
events and benefits. A year takes about a second.

| call | result |
|---|---|
| \`"cycles": 1\` | the next period is debited or billed |
| \`"cycles": 1, "outcomes": ["FAIL_RETRY"]\` | the debit fails; its retry is due a day later |
| the same again | still \`FAIL_RETRY\`; the next retry is due three days later |
| \`"cycles": 2, "outcomes": ["FAIL_RETRY", "SUCCESS"]\` | the first period fails five times and is \`FAIL\`, the next is \`SUCCESS\` |
| \`"cycles": 1, "outcomes": ["AGREEMENT_INVALID"]\` | the period is \`FAIL\`, the order \`UNSUBSCRIBED\` |

Every attempt of a period has the outcome of the period. The last period that \`cycles\` requests is attempted once; earlier ones run
their full retry schedule. In B no period can fail: any outcome except \`SUCCESS\` is 400001. If nothing is due, the answer is code \`0\`
with the unchanged order. A \`to\` before the order's \`createTime\` is 400001.

On a payment channel with a bridge the service calls the real institution, so \`outcomes\` is 400001. If the institution has no result
yet, the order does not advance further until it has. Notices before a debit are sent if your channel has enabled them.`,
  },
  'sandbox/payments/refund': {
    group: 'Sandbox',
    title: 'Refund a period',
    text: `Refunds a period of an order in mode A, in the same steps and with the same event as a refund by an operator. Production has no
such endpoint: operators make refunds there. An order in mode B is 420009, because you make its refunds yourself. A period that was not
paid, or an amount above the rest, is 400001.

Code \`0\` means that the refund was requested. \`refundStatus\` is the institution's result. If it refuses, or has no result yet, the
period is unchanged.`,
  },
  'sandbox/events/pull': {
    group: 'Sandbox',
    title: 'Pull events',
    text: `Returns your events as the service pushes them: the exact body, and headers with a current signature. Use it for a receiver on
your machine that has no public address, or run \`npx perennial-channel listen\`, which calls it. Pushes to your callback address are not
affected.

Events can appear late: poll from one minute before \`readAt\`, and skip the \`eventId\`s that you already have.`,
  },
  'sandbox/events/test': {
    group: 'Sandbox',
    title: 'Send a test push',
    text: `Sends one signed push to your callback address now, and returns what your receiver answered. The push belongs to no order: its
\`eventId\` begins with \`test-\` and its \`data\` is \`{"test":true}\`. It is not stored and not retried. Without a callback address
nothing is sent, and \`accepted\` is false. Test pushes of a channel run one at a time: a call that has waited 5 s for others is 429001.`,
  },
  'sandbox/requests/list': {
    group: 'Sandbox',
    title: 'List requests',
    text: `Returns the requests that were sent with your app id in the last seven days, newest first, with their results but without their
bodies. A request appears a second after its answer. Successful calls of this endpoint and of \`sandbox/events/pull\` are not listed.

For 401002 and 401003, \`reason\` names the probable mistake. [Your console](/developers/console) shows the same list.`,
  },
  'sandbox/channel/set': {
    group: 'Sandbox',
    title: 'Change your channel',
    text: `Changes the given settings of your channel, all or none, and returns all of them. Without fields it only reads them. In
production your operator makes these changes.

You choose a new secret yourself, as 32 random bytes in base64, and send it encrypted with your current \`aesKey\`: so no answer contains a
secret, and a repeated request changes nothing. The old secret and all tokens are invalid immediately, except with \`overlapHours\`: then
both app secrets sign requests until \`formerSecretUntil\`. The other secrets [cannot overlap](/developers/guides/signing#rotate-a-secret).`,
  },
};
