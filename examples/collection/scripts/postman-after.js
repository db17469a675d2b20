const { code, message, data } = pm.response.json();
pm.test(`${pm.info.requestName}: ${code} ${message}`, () => pm.expect(code).to.equal('0'));
// Makes the next request fetch a new token.
if (code === '401005' || code === '401006') pm.collectionVariables.unset('accessTokenEnds');
if (code === '0') {
  const endpoint = pm.request.url.getPath().replace('/openapi/v1/', '');
  const kept = keptOf(endpoint, JSON.parse(pm.request.body.raw), data);
  for (const [name, value] of Object.entries(kept)) pm.collectionVariables.set(name, value);
}
