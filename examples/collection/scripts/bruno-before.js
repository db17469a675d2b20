const PREFIX = '/openapi/v1/';
const channel = {};
for (const name of ['baseUrl', 'appId', 'appSecret', 'aesKey']) channel[name] = bru.getEnvVar(name);

if (!bru.getVar('run')) {
  for (const [name, value] of Object.entries(newUser())) bru.setVar(name, value);
}

// Variables are replaced first, because the signature covers what is sent.
const [endpoint, query = ''] = bru
  .interpolate(req.getUrl())
  .split('#')[0]
  .split(PREFIX)[1]
  .split(/\?(.*)/s);
const path = PREFIX + endpoint;
const content = JSON.parse(bru.interpolate(req.getBody({ raw: true })));
const body = JSON.stringify(encryptFields(channel, content));
req.setBody(body);
setHeaders(signedHeaders(channel, { path, query: escapeQuery(query), body }));
// Keeps a key that you have set, so that you can repeat a request. Reads ignore it.
if (!req.getHeader('Idempotency-Key')) setHeaders({ 'Idempotency-Key': randomHex() });
if (path !== `${PREFIX}auth/token`) setHeaders({ Authorization: `Bearer ${await currentToken()}` });

/** Returns a token that is valid for at least another minute. */
async function currentToken() {
  const isOwn = bru.getVar('accessTokenOwner') === tokenOwner(channel);
  if (isOwn && Date.now() < Number(bru.getVar('accessTokenEnds') || 0)) return bru.getVar('accessToken');
  const asked = JSON.stringify({ grantType: 'client_credentials', appId: channel.appId });
  const { data: answer } = await bru.sendRequest({
    url: `${channel.baseUrl}${PREFIX}auth/token`,
    method: 'POST',
    headers: signedHeaders(channel, { path: `${PREFIX}auth/token`, query: '', body: asked }),
    data: asked,
  });
  if (answer.code !== '0') throw new Error(`auth/token was refused: ${answer.code} ${answer.message}`);
  bru.setVar('accessToken', answer.data.accessToken);
  bru.setVar('accessTokenOwner', tokenOwner(channel));
  bru.setVar('accessTokenEnds', String(Date.now() + (Number(answer.data.expiresIn) - 60) * 1000));
  return answer.data.accessToken;
}

function setHeaders(headers) {
  for (const [name, value] of Object.entries(headers)) req.setHeader(name, value);
}
