const { code, message, data } = res.getBody();
test(`${code} ${message}`, () => expect(code).to.equal('0'));
// Makes the next request fetch a new token.
if (code === '401005' || code === '401006') bru.setVar('accessTokenEnds', '0');
if (code === '0') {
  const endpoint = req.getUrl().split('/openapi/v1/')[1].split('?')[0];
  const sent = req.getBody();
  const kept = keptOf(endpoint, typeof sent === 'string' ? JSON.parse(sent) : sent, data);
  for (const [name, value] of Object.entries(kept)) bru.setVar(name, value);
}
