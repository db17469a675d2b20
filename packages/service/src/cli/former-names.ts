/**
 * The former commands for single settings, each with the option of `channel set` that replaced it. An empty text means
 * that `channel set` has the same options as the former command.
 */
const OPTIONS: Readonly<Record<string, string>> = {
  'set-callback': '--callback',
  'set-ip-list': '--ip-list',
  'set-limits': '',
  'set-encryption': '',
  'set-frame-origins': '--frame-origins',
  'set-voided-period-events': '--voided-period-events',
  'set-upcoming-notices': '--upcoming-notices',
};

/** Translates `channel set-ip-list APP 203.0.113.7` to `channel set APP --ip-list 203.0.113.7` for old scripts. */
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
