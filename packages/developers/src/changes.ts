/** The heading of the lines in CHANGELOG.md that this site shows. */
const AUDIENCE = 'For channel developers:';

/**
 * Returns the changes for channel developers from CHANGELOG.md, as Markdown. Throws if there are none, because the
 * changelog's headings have then changed.
 */
export function changesForChannels(changelog: string): string {
  const releases = changelog.split(/^## /m).slice(1);
  const shown = releases.flatMap((release) => {
    const [title = ''] = release.split('\n', 1);
    const parts = release.split(/^### /m).slice(1).flatMap(partForChannels);
    return parts.length === 0 ? [] : [`### ${title.replaceAll(/[[\]]/g, '')}\n\n${parts.join('\n\n')}`];
  });
  if (shown.length === 0) throw new Error(`CHANGELOG.md has no lines "${AUDIENCE}"`);
  return shown.join('\n\n');
}

function partForChannels(part: string): string[] {
  const [kind = ''] = part.split('\n', 1);
  const [, after] = part.split(`\n${AUDIENCE}\n`);
  const [list = ''] = (after ?? '').split(/^For .*:$/m);
  return list.trim() === '' ? [] : [`**${kind}**\n\n${list.trim()}`];
}
