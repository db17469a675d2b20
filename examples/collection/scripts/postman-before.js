const PREFIX = '/openapi/v1/';
const channel = {};
for (const name of ['baseUrl', 'appId', 'appSecret', 'aesKey']) channel[name] = pm.variables.get(name);

if (!pm.collectionVariables.get('run')) {
  for (const [name, value] of Object.entries(newUser())) pm.collectionVariables.set(name, value);
}

const path = pm.request.url.getPath();
// Variables are replaced first, because the signature covers what is sent.
const query = escapeQuery(pm.variables.replaceIn(pm.request.url.getQueryString()));
const content = JSON.parse(pm.variables.replaceIn(pm.request.body.raw));
const body = JSON.stringify(encryptFields(channel, content));
pm.request.body.update({ mode: 'raw', raw: body });
setHeaders(signedHeaders(channel, { path, query, body }));
// Keeps a key that you have set, so that you can repeat a request. Reads ignore it.
if (!pm.request.headers.has('Idempotency-Key')) setHeaders({ 'Idempotency-Key': randomHex() });

if (path !== `${PREFIX}auth/token`) {
  const isOwn = pm.collectionVariables.get('accessTokenOwner') === tokenOwner(channel);
  if (isOwn && Date.now() < Number(pm.collectionVariables.get('accessTokenEnds') || 0)) useToken();
  else getToken();
}

/** Fetches a token and keeps it until a minute before it expires. */
function getToken() {
  const asked = JSON.stringify({ grantType: 'client_credentials', appId: channel.appId });
  const request = {
    url: `${channel.baseUrl}${PREFIX}auth/token`,
    method: 'POST',
    header: signedHeaders(channel, { path: `${PREFIX}auth/token`, query: '', body: asked }),
    body: { mode: 'raw', raw: asked },
  };
  pm.sendRequest(request, (error, response) => {
    if (error) throw error;
    const { code, message, data } = response.json();
    if (code !== '0') throw new Error(`auth/token was refused: ${code} ${message}`);
    pm.collectionVariables.set('accessToken', data.accessToken);
    pm.collectionVariables.set('accessTokenOwner', tokenOwner(channel));
    pm.collectionVariables.set('accessTokenEnds', String(Date.now() + (Number(data.expiresIn) - 60) * 1000));
    useToken();
  });
}

function useToken() {
  setHeaders({ Authorization: `Bearer ${pm.collectionVariables.get('accessToken')}` });
}

function setHeaders(headers) {
  for (const [key, value] of Object.entries(headers)) pm.request.headers.upsert({ key, value });
}
