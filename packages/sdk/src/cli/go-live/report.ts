import type { Finding } from './checks.js';

export interface ReportFacts {
  readonly appId: string;
  readonly baseUrl: string;
  readonly receiver: string;
  /** In UTC+8. */
  readonly time: string;
  readonly version: string;
}

const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.5rem;border-bottom:1px solid #8886}
@media(max-width:40rem){thead{display:none}tr{display:block;padding:.5rem 0;border-bottom:1px solid #8886}th,td{display:block;padding:.1rem 0;border:0;overflow-wrap:anywhere}}
.met{color:#0a7d33}.unmet{color:#c62828}.open{color:#9a6700}@media(prefers-color-scheme:dark){.met{color:#5fd38a}.unmet{color:#ff8a80}.open{color:#e3b341}}`;

/** Returns the report as one HTML file without scripts. It contains no secret. */
export function writeReport(facts: ReportFacts, findings: readonly Finding[]): string {
  const { appId, baseUrl, receiver, time, version } = facts;
  const about = [
    ['Channel', appId],
    ['Service', baseUrl],
    ['Receiver', receiver],
    ['Time', `${time} (UTC+8)`],
    ['Checked by', `perennial-channel ${version}`],
  ];
  const rows = findings.map(
    ({ subject, check, isMet, detail }) =>
      `<tr><td>${escapeHtml(subject)}</td><td>${escapeHtml(check)}</td><td class="${markOf(isMet)}">${describe(isMet)}</td><td>${escapeHtml(detail)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Go-live report of ${escapeHtml(appId)}</title>
<style>${STYLE}</style></head><body>
<h1>Go-live report</h1>
<p><strong>${summarize(findings)}</strong></p>
<table>${about.map(([name = '', value = '']) => `<tr><th scope="row">${name}</th><td>${escapeHtml(value)}</td></tr>`).join('')}</table>
<h2>Checks</h2>
<table><thead><tr><th scope="col">subject</th><th scope="col">check</th><th scope="col">result</th><th scope="col">detail</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody></table></body></html>
`;
}

export function summarize(findings: readonly Finding[]): string {
  const count = (isMet: boolean | null) => findings.filter((one) => one.isMet === isMet).length;
  return `${count(true)} of ${findings.length} checks met, ${count(false)} not met, ${count(null)} not proven`;
}

export const describe = (isMet: boolean | null): string => (isMet === null ? 'not proven' : isMet ? 'met' : 'not met');

const markOf = (isMet: boolean | null): string => (isMet === null ? 'open' : isMet ? 'met' : 'unmet');

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
