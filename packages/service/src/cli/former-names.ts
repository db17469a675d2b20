/** Former commands, each of one setting, and the option of `channel set` that has come in its place. */
const OPTIONS: Readonly<Record<string, string>> = {
  'set-callback': '--callback',
  'set-ip-list': '--ip-list',
  'set-limits': '',
  'set-encryption': '',
  'set-frame-origins': '--frame-origins',
  'set-voided-period-events': '--voided-period-events',
  'set-upcoming-notices': '--upcoming-notices',
};

/** `channel set-ip-list test_demo 203.0.113.7` is `channel set test_demo --ip-list 203.0.113.7`: scripts may still say so. */
export function readFormerName(argv: readonly string[]): readonly string[] {
  const [noun, verb = '', appId = '', ...rest] = argv;
  const option = noun === 'channel' ? OPTIONS[verb] : undefined;
  if (option === undefined) return argv;
  const value = rest.findIndex((one, at) => !one.startsWith('-') && rest[at - 1] !== '--event');
  const removal = rest.findIndex((one) => one === '--remove' || one === '--clear');
  if (value >= 0 && removal >= 0) return argv;
  if (removal >= 0) return ['channel', 'set', appId, ...rest.toSpliced(removal, 1, option, 'none')];
  return ['channel', 'set', appId, ...(option === '' || value < 0 ? rest : rest.toSpliced(value, 0, option))];
}
